// Files that are dropped, chosen, pasted or photographed.

import { camera } from "./camera.js";
import { find } from "./elements.js";

/** Calls `take(files)` with whatever a person hands over. */
export function intake(take) {
  const [drop, files] = [find("drop"), find("files")];
  let pasted = 0;

  find("choose").addEventListener("click", () => files.click());
  files.addEventListener("change", () => {
    take([...files.files]);
    files.value = ""; // the same file may be chosen again
  });

  // The whole page takes drops: a miss would otherwise make the browser leave it.
  const carriesFiles = (event) => event.dataTransfer?.types.includes("Files");
  let depth = 0;
  const light = (change) => {
    depth = Math.max(0, depth + change);
    drop.classList.toggle("over", depth > 0);
  };
  document.addEventListener("dragenter", (event) => carriesFiles(event) && light(1));
  document.addEventListener("dragleave", (event) => carriesFiles(event) && light(-1));
  document.addEventListener("dragover", (event) => carriesFiles(event) && event.preventDefault());
  document.addEventListener("drop", (event) => {
    if (!carriesFiles(event)) return;
    event.preventDefault();
    light(-depth);
    take([...event.dataTransfer.files]);
  });

  document.addEventListener("paste", (event) => {
    const found = [...(event.clipboardData?.files ?? [])];
    if (!found.length) return;
    event.preventDefault();
    take(found.map((file) => new File([file], `pasted-${(pasted += 1)}.${ending(file)}`, { type: file.type })));
  });

  camera((still) => take([still]));
}

const ending = (file) => file.name.split(".").at(-1) || "png";
