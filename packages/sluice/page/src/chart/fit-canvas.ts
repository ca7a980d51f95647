/** A canvas in CSS pixels, cleared, as wide as its box. */
export interface FittedCanvas {
  readonly pen: CanvasRenderingContext2D;
  readonly width: number;
  readonly height: number;
}

/**
 * Gives a canvas the pixels of its box; undefined while it has none. The width comes from a `ResizeObserver`: to read it
 * from the canvas would lay the page out in the middle of a redraw.
 */
export function fitCanvas(
  canvas: HTMLCanvasElement,
  width: number,
  height: number,
): FittedCanvas | undefined {
  const scale = devicePixelRatio;
  if (canvas.style.height !== `${height}px`) canvas.style.height = `${height}px`;
  const pen = canvas.getContext("2d");
  if (width === 0 || pen === null) return undefined;
  const [pixelsWide, pixelsHigh] = [Math.round(width * scale), Math.round(height * scale)];
  // Setting a size clears the canvas and costs time, even if it is the same.
  if (canvas.width !== pixelsWide) canvas.width = pixelsWide;
  if (canvas.height !== pixelsHigh) canvas.height = pixelsHigh;
  pen.setTransform(scale, 0, 0, scale, 0, 0);
  pen.clearRect(0, 0, width, height);
  return { pen, width, height };
}
