// Durations as people write them: 90s, 15m, 30d. One parser for settings, flags and help.

const UNIT_MS: Record<string, number> = {
  ms: 1,
  s: 1000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
  w: 604_800_000,
};

/**
 * Reads a duration such as `90s`, `15m`, `24h`, `30d` or `2w`.
 *
 * @returns milliseconds, or undefined when the text is not a duration
 */
export function parseDuration(text: string): number | undefined {
  const match = /^(\d{1,9})(ms|s|m|h|d|w)$/.exec(text.trim());
  const unitMs = UNIT_MS[match?.[2] ?? ''];
  return match && unitMs !== undefined ? Number(match[1]) * unitMs : undefined;
}

/** Writes milliseconds in the largest unit that divides them: 5400000 → `90m`. */
export function formatDuration(durationMs: number): string {
  for (const unit of ['w', 'd', 'h', 'm', 's']) {
    const unitMs = UNIT_MS[unit] ?? 1;
    if (durationMs >= unitMs && durationMs % unitMs === 0) return `${durationMs / unitMs}${unit}`;
  }
  return `${durationMs}ms`;
}
