// The pastes made from this machine.
import { type OwnThing, ownList } from './own-list.ts';

export interface OwnPaste extends OwnThing {
  pasteId: string;
  title: string | null;
  language: string;
  createdAt: string;
  expiresAt: string;
  burnAfterRead: boolean;
  hasPassword: boolean;
}

export const ownPastes = ownList<OwnPaste>('pastes.jsonl', ['pasteId', 'expiresAt']);
