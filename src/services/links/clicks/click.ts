// One click, anonymised.

export interface Click {
  linkKey: number;
  /** Milliseconds since the epoch. */
  clickedAt: number;
  browser: string;
  operatingSystem: string;
  device: string;
  referrerHost: string;
  /** Keyed hash of the visitor's address. */
  addressHash: string;
}
