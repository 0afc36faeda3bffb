"""
A small machine, without torch
==============================

Pictures judged by onnxruntime and NumPy alone, neither torch nor dissensus.
Made before, on another machine: ``dissensus fit photos/ -o gate/ && dissensus export gate/ gate.onnx``
"""

import numpy as np
import onnxruntime

session = onnxruntime.InferenceSession("gate.onnx", providers=["CPUExecutionProvider"])
_, height, width, channels = session.get_inputs()[0].shape

# Here a camera would be read. These are raw pixels, uint8 in 0..255, as many at once as you like.
pictures = np.random.default_rng(0).integers(0, 256, (3, height, width, channels), dtype=np.uint8)

score, p_value, flagged = session.run(None, {"pixels": pictures})
for number in range(len(pictures)):
    verdict = "flagged" if flagged[number] else "as usual"
    print(f"picture {number}: score {score[number]:.2f}, p-value {p_value[number]:.3f}, {verdict}")
