// A Redis that says nothing any more, and keeps its connections: what a machine looks like that is out of memory.
import { Redis } from 'ioredis';
import { until } from './serve.ts';

/** Stops the process of a Redis; the answer lets it go on. */
export async function hangRedis(url: string): Promise<() => void> {
  const redis = new Redis(url);
  const about = await redis.info('server');
  redis.disconnect();
  const id = Number(/process_id:(\d+)/.exec(about)?.[1]);
  process.kill(id, 'SIGSTOP');
  return () => process.kill(id, 'SIGCONT');
}

/** Makes a Redis that was started with `--cluster-enabled yes` a cluster of one. */
export async function formCluster(url: string): Promise<void> {
  const redis = new Redis(url);
  await redis.call('CLUSTER', 'ADDSLOTSRANGE', '0', '16383');
  await until(async () => (await redis.cluster('INFO')).includes('cluster_state:ok'));
  redis.disconnect();
}

/** Ends the connections that publications come over, as Redis does with those that do not keep up; they come back. */
export async function cutPublications(url: string): Promise<void> {
  const redis = new Redis(url);
  await redis.call('CLIENT', 'KILL', 'TYPE', 'pubsub');
  redis.disconnect();
}
