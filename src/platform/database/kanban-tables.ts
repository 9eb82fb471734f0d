// The tables of the kanban service, as Kysely sees them.
import type { ColumnType, Generated, JSONColumnType } from 'kysely';

type BigInt8 = ColumnType<number, number | undefined, number>;

export interface AccountTable {
  id: string;
  email: string;
  /** These are null once the account is deleted. */
  salt: string | null;
  authHash: string | null;
  publicKey: string | null;
  encPrivateKey: string | null;
  encSymmetricKey: string | null;
  encRecoveryBlob: string | null;
  /** Sealed under a key of the server; set while enrollment is pending too. */
  totpSecret: Buffer | null;
  totpEnabled: Generated<boolean>;
  /** The newest TOTP time step that was used: each is good once. */
  totpLastStep: BigInt8;
  createdAt: Date;
  deletedAt: Date | null;
  purgeAfter: Date | null;
}

export interface SessionTable {
  id: string;
  accountId: string;
  tokenHash: Buffer;
  userAgent: string | null;
  createdAt: Date;
  lastUsedAt: Date;
}

export interface RecoveryCodeTable {
  accountId: string;
  codeHash: string;
}

export interface WebauthnCredentialTable {
  id: string;
  accountId: string;
  credentialId: string;
  publicKey: Buffer;
  counter: BigInt8;
  transports: string[];
  createdAt: Date;
  lastUsedAt: Date | null;
}

export interface AccountAddressTable {
  accountId: string;
  addressHash: string;
  signedInAt: Date;
}

export interface LoginFailureTable {
  emailHash: string;
  /** Empty for all addresses together. */
  addressHash: string;
  failures: number;
  failedAt: Date;
  blockedUntil: Date;
}

export type Role = 'owner' | 'admin' | 'member';

export interface WorkspaceTable {
  id: string;
  encName: string;
  keyEpoch: number;
  rotationDue: Generated<boolean>;
  createdAt: Date;
  updatedAt: Date;
}

export interface WorkspaceMemberTable {
  workspaceId: string;
  accountId: string;
  role: Role;
  encWorkspaceKey: string;
  joinedAt: Date;
}

export interface BoardTable {
  id: string;
  workspaceId: string;
  encName: string;
  encDescription: string | null;
  archived: Generated<boolean>;
  lastSeq: BigInt8;
  createdAt: Date;
  updatedAt: Date;
}

export interface BoardKeyTable {
  boardId: string;
  epoch: number;
  encBoardKey: string;
}

interface OfBoard {
  id: string;
  boardId: string;
  createdAt: Date;
}

interface Changeable {
  updatedAt: Date;
}

export interface BoardColumnTable extends OfBoard, Changeable {
  encName: string;
  position: string;
  wipLimit: number | null;
}

export interface LabelTable extends OfBoard, Changeable {
  encName: string;
  color: string;
}

export interface MilestoneTable extends OfBoard, Changeable {
  encName: string;
  dueAt: Date | null;
  archived: Generated<boolean>;
}

export interface CardTemplateTable extends OfBoard {
  encName: string;
  encContent: string;
}

export type CustomFieldKind = 'text' | 'number' | 'date' | 'select' | 'checkbox';

export interface CustomFieldTable extends OfBoard, Changeable {
  encName: string;
  kind: CustomFieldKind;
  encOptions: string | null;
  position: string;
}

export interface CardTable extends OfBoard, Changeable {
  columnId: string;
  encTitle: string;
  encDescription: string | null;
  position: string;
  startAt: Date | null;
  dueAt: Date | null;
  completed: Generated<boolean>;
  archived: Generated<boolean>;
  milestoneId: string | null;
}

export interface CardLabelTable {
  cardId: string;
  labelId: string;
}

export interface CardAssigneeTable {
  cardId: string;
  accountId: string;
}

export interface CardFieldValueTable {
  cardId: string;
  fieldId: string;
  encValue: string;
}

export interface CommentTable extends OfBoard, Changeable {
  cardId: string;
  authorId: string | null;
  encBody: string;
  mentions: string[];
}

export interface ChecklistTable extends OfBoard, Changeable {
  cardId: string;
  encTitle: string;
  position: string;
}

export interface ChecklistItemTable extends OfBoard, Changeable {
  cardId: string;
  checklistId: string;
  encText: string;
  done: Generated<boolean>;
  position: string;
  assigneeId: string | null;
  dueAt: Date | null;
}

export interface AttachmentTable extends OfBoard {
  cardId: string;
  uploaderId: string | null;
  encName: string;
  encContent: string;
  sizeBytes: BigInt8;
}

export interface AutomationTable extends OfBoard, Changeable {
  creatorId: string | null;
  encName: string;
  enabled: boolean;
  trigger: JSONColumnType<Record<string, unknown>>;
  actions: JSONColumnType<Array<Record<string, unknown>>>;
}

export interface WebhookTable extends OfBoard, Changeable {
  url: string;
  verbs: string[];
  enabled: boolean;
  secret: Buffer;
  previousSecret: Buffer | null;
  previousSecretUntil: Date | null;
}

export type DeliveryStatus = 'pending' | 'delivered' | 'failed' | 'dead';

export interface DeliveryAttempt {
  at: string;
  /** Of the answer; absent when there was none. */
  status?: number;
  error?: string;
  durationMs: number;
}

export interface WebhookDeliveryTable {
  id: string;
  /** Null for what outlives its webhook; such a row carries its target itself. */
  webhookId: string | null;
  url: string | null;
  secret: Buffer | null;
  previousSecret: Buffer | null;
  previousSecretUntil: Date | null;
  boardId: string;
  seq: BigInt8;
  verb: string;
  body: string;
  status: DeliveryStatus;
  attempts: ColumnType<DeliveryAttempt[], string | undefined, string>;
  step: Generated<number>;
  firstAttemptAt: Date | null;
  dueAt: Date;
  createdAt: Date;
  finishedAt: Date | null;
}

export interface ActivityTable {
  id: string;
  boardId: string;
  seq: BigInt8;
  verb: string;
  cardId: string | null;
  actorId: string | null;
  timestamp: Date;
  metadata: JSONColumnType<Record<string, unknown>>;
}

export interface NotificationTable {
  id: string;
  accountId: string;
  kind: 'assignment' | 'mention';
  boardId: string;
  cardId: string;
  commentId: string | null;
  actorId: string | null;
  createdAt: Date;
  readAt: Date | null;
}

export interface KanbanTables {
  account: AccountTable;
  session: SessionTable;
  recoveryCode: RecoveryCodeTable;
  webauthnCredential: WebauthnCredentialTable;
  accountAddress: AccountAddressTable;
  loginFailure: LoginFailureTable;
  workspace: WorkspaceTable;
  workspaceMember: WorkspaceMemberTable;
  board: BoardTable;
  boardKey: BoardKeyTable;
  boardColumn: BoardColumnTable;
  label: LabelTable;
  milestone: MilestoneTable;
  cardTemplate: CardTemplateTable;
  customField: CustomFieldTable;
  card: CardTable;
  cardLabel: CardLabelTable;
  cardAssignee: CardAssigneeTable;
  cardFieldValue: CardFieldValueTable;
  comment: CommentTable;
  checklist: ChecklistTable;
  checklistItem: ChecklistItemTable;
  attachment: AttachmentTable;
  automation: AutomationTable;
  webhook: WebhookTable;
  webhookDelivery: WebhookDeliveryTable;
  activity: ActivityTable;
  notification: NotificationTable;
}
