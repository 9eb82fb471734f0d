// Sizes as people read them.

/** 312 bytes, 1.5 KiB, 1.0 MiB */
export function bytes(count: number): string {
  if (count < 1024) return `${count} bytes`;
  return count < 1024 ** 2 ? `${(count / 1024).toFixed(1)} KiB` : `${(count / 1024 ** 2).toFixed(1)} MiB`;
}
