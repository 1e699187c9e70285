/** One measured number of a benchmark. */
export interface Figure {
  readonly name: string;
  readonly value: number;
  readonly unit: string;
  /** What it should be, in words: `≥ 100,000`. */
  readonly target?: string;
  /** Whether it is so; absent where there is no target. */
  readonly met?: boolean;
}
