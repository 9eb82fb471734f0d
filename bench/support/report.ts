// One line a figure: what was measured, the ratio, its limit, and whether it holds.

export interface Figure {
  name: string;
  /** Ours over the peer's, in the direction the limit speaks of. */
  ratio: number;
  limit: { atMost: number } | { atLeast: number };
  /** The measured values behind the ratio. */
  detail: string;
}

/** Prints a figure. */
export function report({ name, ratio, limit, detail }: Figure): void {
  const holds = 'atMost' in limit ? ratio <= limit.atMost : ratio >= limit.atLeast;
  const bound = 'atMost' in limit ? `at most ${limit.atMost}` : `at least ${limit.atLeast}`;
  process.stdout.write(
    `${holds ? 'holds' : 'FAILS'}  ${name}: ${ratio.toFixed(2)} × (${bound}); ${detail}\n`,
  );
}

/** Prints a remark. */
export function remark(text: string): void {
  process.stdout.write(`       ${text}\n`);
}

/** The middle of some values. */
export function median(values: number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
}

/** The value below which a share of the values lies. */
export function percentile(values: number[], share: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
}
