// What sets an automation off, and what it does.

export interface Trigger {
  verb: string;
  toColumnId?: string | null | undefined;
  fromColumnId?: string | null | undefined;
  labelId?: string | null | undefined;
}

export type Action =
  | { type: 'MOVE_CARD'; toColumnId: string }
  | { type: 'ADD_LABEL' | 'REMOVE_LABEL'; labelId: string }
  | { type: 'ASSIGN' | 'UNASSIGN'; userId: string }
  | { type: 'SET_MILESTONE'; milestoneId: string | null }
  | { type: 'SET_COMPLETED'; completed: boolean }
  | { type: 'ARCHIVE' };
