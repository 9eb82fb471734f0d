// What no short code may be: the first path segments that the site of the link service uses itself.

/** Reserved short codes (contract, section 4); a test holds them against the routes. */
export const RESERVED_CODES: ReadonlySet<string> = new Set(['api', 'assets', 'stats']);
