/** Returns the share of equal pixels of two pictures, as base64. Runs in the page. */
export async function countEqual(pictures: readonly string[]): Promise<number> {
  const [one = [], other = []] = await Promise.all(
    pictures.map(async (text) => {
      const bytes = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
      const picture = await createImageBitmap(new Blob([bytes]));
      const canvas = new OffscreenCanvas(picture.width, picture.height).getContext('2d');
      canvas?.drawImage(picture, 0, 0);
      return canvas?.getImageData(0, 0, picture.width, picture.height).data ?? [];
    }),
  );
  if (one.length !== other.length) return 0;
  // Without the background: most pixels of a blank page are equal, too.
  let drawn = 0;
  let equal = 0;
  for (let at = 0; at < one.length; at += 1) {
    const left = one[at] ?? 0;
    const right = other[at] ?? 0;
    if (at % 4 === 3 || Math.min(left, right) >= 220) continue;
    drawn += 1;
    if (Math.abs(left - right) < 32) equal += 1;
  }
  return equal / drawn;
}
