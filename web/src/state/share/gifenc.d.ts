/** The part of the package that the page uses; it has no types of its own. */
declare module "gifenc" {
  type Palette = number[][];

  interface FrameOptions {
    /** The first frame needs it; later ones use that of the first. */
    palette?: Palette;
    transparent?: boolean;
    transparentIndex?: number;
    /** In milliseconds. */
    delay?: number;
    /** The disposal method of the GIF. */
    dispose?: number;
  }

  interface Encoder {
    writeFrame(indices: Uint8Array, width: number, height: number, options: FrameOptions): void;
    finish(): void;
    bytes(): Uint8Array<ArrayBuffer>;
  }

  export function GIFEncoder(): Encoder;
  export function quantize(rgba: Uint8ClampedArray, colors: number): Palette;
  /** The index of each pixel's nearest color. */
  export function applyPalette(rgba: Uint8ClampedArray, palette: Palette): Uint8Array;
}
