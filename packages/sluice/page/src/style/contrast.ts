/** How well two colours can be told apart: by contrast (WCAG 2), and by hue for sight that lacks one kind of cones. */

type Triple = readonly [number, number, number];
type Matrix = readonly [Triple, Triple, Triple];

/** What an eye sees of linear RGB (Machado, Oliveira and Fernandes 2009, severity 1). */
export const DEFICIENCIES = {
  normal: [
    [1, 0, 0],
    [0, 1, 0],
    [0, 0, 1],
  ],
  protan: [
    [0.152_286, 1.052_583, -0.204_868],
    [0.114_503, 0.786_281, 0.099_216],
    [-0.003_882, -0.048_116, 1.051_998],
  ],
  deutan: [
    [0.367_322, 0.860_646, -0.227_968],
    [0.280_085, 0.672_501, 0.047_413],
    [-0.011_82, 0.042_94, 0.968_881],
  ],
  tritan: [
    [1.255_528, -0.076_749, -0.178_779],
    [-0.078_411, 0.930_809, 0.147_602],
    [0.004_733, 0.691_367, 0.3039],
  ],
} as const satisfies Readonly<Record<string, Matrix>>;

/** From linear RGB to the cones of OKLab, and from their cube roots to OKLab. */
const TO_CONES: Matrix = [
  [0.412_221_470_8, 0.536_332_536_3, 0.051_445_992_9],
  [0.211_903_498_2, 0.680_699_545_1, 0.107_396_956_6],
  [0.088_302_461_9, 0.281_718_837_6, 0.629_978_700_5],
];
const TO_LAB: Matrix = [
  [0.210_454_255_3, 0.793_617_785, -0.004_072_046_8],
  [1.977_998_495_1, -2.428_592_205, 0.450_593_709_9],
  [0.025_904_037_1, 0.782_771_766_2, -0.808_675_766],
];

/** The contrast of two colours, 1 to 21. */
export function contrast(a: string, b: string): number {
  const [light, dark] = [luminance(a), luminance(b)].toSorted((one, other) => other - one);
  return ((light ?? 0) + 0.05) / ((dark ?? 0) + 0.05);
}

/** The distance in OKLab, × 100, as the eye sees the two. */
export function distance(a: string, b: string, sight: keyof typeof DEFICIENCIES): number {
  const [one, other] = [seen(a, DEFICIENCIES[sight]), seen(b, DEFICIENCIES[sight])];
  return 100 * Math.hypot(...one.map((value, index) => value - (other[index] ?? 0)));
}

function seen(hex: string, matrix: Matrix): Triple {
  const [r, g, b] = times(matrix, linear(hex));
  const cones = times(TO_CONES, [Math.max(0, r), Math.max(0, g), Math.max(0, b)]);
  return times(TO_LAB, [Math.cbrt(cones[0]), Math.cbrt(cones[1]), Math.cbrt(cones[2])]);
}

function luminance(hex: string): number {
  const [r, g, b] = linear(hex);
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}

function linear(hex: string): Triple {
  const channel = (at: number): number => {
    const value = Number.parseInt(hex.slice(at, at + 2), 16) / 255;
    return value <= 0.040_45 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
  };
  return [channel(1), channel(3), channel(5)];
}

function times(matrix: Matrix, [x, y, z]: Triple): Triple {
  const row = ([a, b, c]: Triple): number => a * x + b * y + c * z;
  return [row(matrix[0]), row(matrix[1]), row(matrix[2])];
}
