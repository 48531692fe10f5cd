import type { BenchTarget } from './target.ts'
import { createScriptTarget } from './program.ts'

/** A constant reply. */
export interface ConstantReply {
  readonly status: number
  /** Headers, in addition to `date`, `connection` and `keep-alive`, which Node adds. */
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
  /** Processing of the request body before the reply: it is read, or also parsed. By default it is ignored. */
  readonly bodyMode?: 'bytes' | 'json'
}

/** A bare `node:net` server that parses nothing and sends the same bytes after each read: the lower bound of costs. */
export const createFloorTarget = (reply: ConstantReply): BenchTarget =>
  createScriptTarget('bare node:net', 'floor-server.ts', JSON.stringify(reply))

/** A bare `node:http` server with `db.put`: the lower bound of costs with Node and LevelDB. */
export const putTarget: BenchTarget = createScriptTarget('bare db.put', 'put-server.ts')

/** A bare `node:http` server with one reply for all requests: the lower bound of costs with `node:http`. */
export const createBareTarget = (reply: ConstantReply): BenchTarget =>
  createScriptTarget('bare node:http', 'bare-server.ts', JSON.stringify(reply))
