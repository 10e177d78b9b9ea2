/* Models that look at pictures: ResNet. */
#ifndef WICK_VISION_H
#define WICK_VISION_H

#include <wick/format.h>
#include <wick/tensor.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A ResNet-18, -34, -50, -101 or -152 image classifier (He et al., "Deep Residual Learning for Image Recognition",
 * 2015; the stride of bottlenecks in their 3x3 convolution, as torchvision and the Hugging Face hub have it). Opening
 * it folds batch norms into the convolutions, in f64. Several threads may use it at once. */
struct wick_resnet;

/* Opens a model from a file that format.h reads (.safetensors, .pth, .npz), or from a folder as on the Hugging Face
 * hub. Tensors have the names of torchvision (layer1.0.conv1.weight) or of transformers
 * (encoder.stages.0.layers.0.layer.0.convolution.weight), after any prefix; the number of blocks follows from the
 * names. A config.json in the folder may say "downsample_in_bottleneck". Close with wick_resnet_close. NULL on failure:
 * WICK_FORMAT if a tensor is missing or has a wrong shape, and any failure of opening a file. */
WICK_API struct wick_resnet *wick_resnet_open(const char *path, struct wick_device *device);

/* The same with options for the weights' file, which it reads and closes; NULL means all zero. Close with
 * wick_resnet_close. */
WICK_API struct wick_resnet *wick_resnet_open_with(const char *path, struct wick_device *device,
                                                   const struct wick_archive_options *options);

/* Closes and frees a model. NULL is fine. */
WICK_API void wick_resnet_close(struct wick_resnet *resnet);

/* The number of layers in its name, 50 for ResNet-50, and the number of classes; 0 for NULL. */
WICK_API int wick_resnet_depth(const struct wick_resnet *resnet);
WICK_API int64_t wick_resnet_classes(const struct wick_resnet *resnet);

/* The class scores, before any softmax: images [N,3,H,W] f32, normalised as the model was trained; [N,classes]. */
WICK_API struct wick_tensor *wick_resnet_forward(const struct wick_resnet *resnet, const struct wick_tensor *images);

/* The output of a stage: 0 is the stem with its pooling, 1 to 4 are the groups of blocks; [N,C,h,w]. WICK_RANGE for any
 * other stage. */
WICK_API struct wick_tensor *wick_resnet_stage(const struct wick_resnet *resnet, const struct wick_tensor *images,
                                               int stage);

#ifdef __cplusplus
}
#endif
#endif
