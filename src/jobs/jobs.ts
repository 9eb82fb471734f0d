// Every scheduled job: its file, when it runs (cron, UTC), how long it may take.

export interface JobDefinition {
  /** Name in `svc jobs`, in the history, and of its file in this folder. */
  name: string;
  /** What it does, in a line. */
  description: string;
  /** Cron expression of five fields, in UTC; absent for a job that runs as long as its scheduler does. */
  cron?: string;
  /** A run that takes longer is ended. */
  timeLimitMs: number;
  /** So long after it was last heard of, a run counts as dead; a minute unless told otherwise. */
  leaseMs?: number;
}

export const jobs: readonly JobDefinition[] = [
  {
    name: 'dispatch-webhooks',
    description: 'send webhooks what they are to be told, all the time',
    timeLimitMs: 10 * 60_000,
    leaseMs: 8_000,
  },
  {
    name: 'purge-pastes',
    description: 'remove expired pastes for good',
    cron: '*/10 * * * *',
    timeLimitMs: 30 * 60_000,
  },
  {
    name: 'purge-links',
    description: 'remove links that expired long ago, and clicks of deleted links',
    cron: '5-55/10 * * * *',
    timeLimitMs: 30 * 60_000,
  },
  {
    name: 'roll-click-months',
    description: 'make partitions for clicks ahead of time, drop those older than LINKS_KEEP_CLICKS',
    cron: '29 3 * * *',
    timeLimitMs: 5 * 60_000,
  },
  {
    name: 'purge-accounts',
    description:
      'remove the rows of accounts deleted ACCOUNT_DELETE_AFTER ago, and of sessions that are over',
    cron: '41 * * * *',
    timeLimitMs: 30 * 60_000,
  },
  {
    name: 'prune-deliveries',
    description: 'forget webhook deliveries that were delivered WEBHOOK_KEEP_DELIVERED ago',
    cron: '47 * * * *',
    timeLimitMs: 30 * 60_000,
  },
  {
    name: 'prune-notifications',
    description: 'forget notifications of more than 90 days ago',
    cron: '23 3 * * *',
    timeLimitMs: 5 * 60_000,
  },
  {
    name: 'prune-job-history',
    description: 'forget runs of jobs that ended more than 30 days ago',
    cron: '17 3 * * *',
    timeLimitMs: 5 * 60_000,
  },
];

/** The job of a name, or undefined. */
export function findJob(name: string): JobDefinition | undefined {
  return jobs.find((job) => job.name === name);
}
