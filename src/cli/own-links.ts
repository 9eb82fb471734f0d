// The links made from this machine.
import { type OwnThing, ownList } from './own-list.ts';

export interface OwnLink extends OwnThing {
  shortCode: string;
  originalUrl: string;
  createdAt: string;
  expiresAt: string | null;
  hasPassword: boolean;
}

export const ownLinks = ownList<OwnLink>('links.jsonl', ['shortCode', 'originalUrl']);
