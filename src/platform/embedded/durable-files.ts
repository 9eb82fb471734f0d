// Files that are on the disk when PGlite believes they are: Emscripten's own layer over Node's files has no fsync,
// so a commit would reach the operating system only, and a power failure could take the last ones.
import { fdatasyncSync } from 'node:fs';
import { PGlite } from '@electric-sql/pglite';
import { NodeFS } from '@electric-sql/pglite/nodefs';

type EmscriptenOptions = Awaited<ReturnType<NodeFS['init']>>['emscriptenOpts'];

interface Stream {
  /** Node's file descriptor. */
  nfd: number;
}

/** PGlite's files, with an fsync that reaches the disk. */
export class DurableNodeFS extends NodeFS {
  override async init(pg: PGlite, options: EmscriptenOptions): ReturnType<NodeFS['init']> {
    const { emscriptenOpts } = await super.init(pg, options);
    const addSync = (module: { NODEFS?: { stream_ops: object } }) => {
      if (!module.NODEFS) throw new Error('PGlite has no NODEFS: its files cannot be flushed');
      Object.assign(module.NODEFS.stream_ops, {
        fsync: (stream: Stream) => {
          fdatasyncSync(stream.nfd);
          return 0;
        },
      });
    };
    return {
      emscriptenOpts: { ...emscriptenOpts, preRun: [...[emscriptenOpts.preRun ?? []].flat(), addSync] },
    };
  }
}

/** PGlite's own parameters without `-F`, which switches fsync off; of the ways to flush only fsync is hooked. */
export const durableStartParams: string[] = [
  ...PGlite.defaultStartParams.filter((parameter) => parameter !== '-F'),
  '-c',
  'wal_sync_method=fsync',
];
