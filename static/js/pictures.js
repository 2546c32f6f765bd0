// Pictures that cannot be loaded are removed, and their places with them.
function remove(picture) {
  if (picture.matches(".row-image")) picture.closest(".has-image")?.classList.remove("has-image");
  if (picture.matches(".row-image, .prose img")) picture.remove();
}

// The first picture of an article has the width of a photograph until its own is known.
const settle = (picture) => picture.toggleAttribute("data-loaded", true);

export function watchPictures() {
  for (const [event, end] of Object.entries({ error: remove, load: settle })) {
    document.addEventListener(event, ({ target }) => target instanceof HTMLImageElement && end(target), {
      capture: true, // they do not bubble
    });
  }
  for (const picture of document.images) {
    if (picture.complete && picture.currentSrc) (picture.naturalWidth ? settle : remove)(picture);
  }
}
