/** Point of a drawing, in pixels. */
export type Point = Readonly<Record<'x' | 'y', number>>;

/** Size in a drawing, in pixels. */
export type Size = Readonly<Record<'width' | 'height', number>>;

/** Rectangle of a drawing, from its top left corner. */
export interface Box extends Point, Size {}

/** Moves a point or a box. */
export function move<T extends Point>(moved: T, { x, y }: Point): T {
  return { ...moved, x: moved.x + x, y: moved.y + y };
}

export function centerOf({ x, y, width, height }: Box): Point {
  return { x: x + width / 2, y: y + height / 2 };
}

/** Returns the point of a border where a line from a point to the center of the box enters. */
export function borderPoint(box: Box, from: Point): Point {
  const center = centerOf(box);
  const dx = from.x - center.x;
  const dy = from.y - center.y;
  const scale = Math.min(box.width / 2 / Math.abs(dx), box.height / 2 / Math.abs(dy));
  return Number.isFinite(scale) ? { x: center.x + dx * scale, y: center.y + dy * scale } : center;
}
