// A Redis that says nothing any more, and keeps its connections: what a machine looks like that is out of memory.
import { Redis } from 'ioredis';

/** Stops the process of a Redis; the answer lets it go on. */
export async function hangRedis(url: string): Promise<() => void> {
  const redis = new Redis(url);
  const about = await redis.info('server');
  redis.disconnect();
  const id = Number(/process_id:(\d+)/.exec(about)?.[1]);
  process.kill(id, 'SIGSTOP');
  return () => process.kill(id, 'SIGCONT');
}
