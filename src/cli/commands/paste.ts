import { Command } from 'commander';
import type { Terminal } from '../terminal.ts';
export function pasteCommand(_terminal: Terminal): Command {
  return new Command('paste');
}
