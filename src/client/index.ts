// The zero-knowledge reference client, for browsers and Node: `import { login } from 'svc/client'`.
export { type Account, login, logout, recover, register } from './account.ts';
export {
  type DocumentOptions,
  openCardDocument,
  openPresence,
  type Presence,
  type SharedDocument,
} from './collaboration.ts';
export { ApiError, type Transport, type TransportOptions } from './http.ts';
export { fingerprint, type KeyDerivation, type KeyPair } from './primitives.ts';
export {
  connectRelay,
  type RelayConnection,
  type RelayOptions,
  type RelayRoom,
  type RoomHandler,
} from './relay.ts';
export { type SignedDelivery, verifyWebhook } from './webhook-signature.ts';
export {
  createBoard,
  createWorkspace,
  decryptField,
  encryptField,
  invite,
  listBoards,
  listWorkspaces,
  lookUp,
  type OpenBoard,
  type OpenWorkspace,
  openBoard,
  openWorkspace,
  removeMember,
  rotateKeys,
} from './workspace.ts';
