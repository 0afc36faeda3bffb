// A still from the camera, as a file like any other.

import { find } from "./elements.js";

/** Wires the camera's button and dialog; `take(file)` gets each still. */
export function camera(take) {
  const [dialog, view, trouble] = [find("camera-dialog"), find("camera-view"), find("camera-trouble")];
  let stream = null;
  let stills = 0;

  const stop = () => {
    stream?.getTracks().forEach((track) => track.stop());
    stream = null;
    view.srcObject = null;
  };
  const say = (message) => {
    trouble.textContent = message;
    trouble.hidden = message === "";
    view.hidden = message !== "";
    find("camera-take").disabled = message !== "";
  };

  find("use-camera").addEventListener("click", async () => {
    dialog.showModal();
    if (!navigator.mediaDevices?.getUserMedia) {
      say("Browsers lend the camera only to pages served over TLS or from this machine itself (localhost).");
      return;
    }
    say("");
    try {
      stream = await navigator.mediaDevices.getUserMedia({ video: { facingMode: "environment" } });
    } catch (error) {
      say(error.name === "NotAllowedError" ? "The browser was not allowed to use the camera." : "No camera was found.");
      return;
    }
    if (dialog.open) view.srcObject = stream;
    else stop(); // closed while the browser was still asking
  });
  find("camera-take").addEventListener("click", async () => {
    if (!view.videoWidth) return;
    const canvas = document.createElement("canvas");
    [canvas.width, canvas.height] = [view.videoWidth, view.videoHeight];
    canvas.getContext("2d").drawImage(view, 0, 0);
    const blob = await new Promise((resolve) => canvas.toBlob(resolve, "image/png"));
    stills += 1;
    dialog.close();
    take(new File([blob], `camera-${stills}.png`, { type: "image/png" }));
  });
  find("camera-close").addEventListener("click", () => dialog.close());
  dialog.addEventListener("close", stop);
}
