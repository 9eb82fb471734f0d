// The version of the program, in one place that costs nothing to read; a test compares it with package.json.

export const VERSION = '0.1.0';
