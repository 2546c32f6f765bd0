// Pictures that cannot be loaded are removed, and their places with them.
function remove(picture) {
  if (picture.matches(".row-image")) picture.closest(".has-image")?.classList.remove("has-image");
  if (picture.matches(".row-image, .prose img")) picture.remove();
}

export function removeBroken() {
  document.addEventListener("error", ({ target }) => target instanceof HTMLImageElement && remove(target), {
    capture: true, // errors do not bubble
  });
  for (const picture of document.images) {
    if (picture.complete && picture.currentSrc && !picture.naturalWidth) remove(picture);
  }
}
