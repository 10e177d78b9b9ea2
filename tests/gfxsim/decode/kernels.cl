// What code.c loads: globals with a relocation and without contents, static LDS, scratch, arguments of several sizes.
__attribute__((visibility("default"))) global int numbers[5] = {10, 20, 30, 40, 50};
__attribute__((visibility("protected"))) global int *global middle = numbers + 2;
__attribute__((visibility("protected"))) global char cleared[1000];

__attribute__((amdgpu_flat_work_group_size(1, 192))) kernel void first(global int *out, short n, double x) {
    int i = __builtin_amdgcn_workitem_id_x();
    out[i] = n + (int)x + *middle + cleared[i];
}
kernel void second(global int *out, int at) {
    local int shared[75];
    volatile int own[40];
    own[at & 31] = 3;
    shared[at] = 1;
    __builtin_amdgcn_s_barrier();
    out[0] = shared[at & 3] + own[5] + ((constant ushort *)__builtin_amdgcn_implicitarg_ptr())[6];
}
