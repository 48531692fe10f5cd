import type { BenchTarget } from './target.ts'
import { createScriptTarget } from './program.ts'

/** The parts of a constant reply. */
export interface ConstantReply {
  readonly status: number
  /** In addition to `date`, `connection` and `keep-alive`, which Node adds. */
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
  /** Processing of each request's body before the reply; absent: none. */
  readonly bodyMode?: 'bytes' | 'json'
}

/** A bare `node:net` server that parses nothing and answers each read with the same bytes: the lower bound. */
export const createFloorTarget = (reply: ConstantReply): BenchTarget =>
  createScriptTarget('bare node:net', './floor-server.ts', JSON.stringify(reply))

/** A bare `node:http` server with `db.put`: the limit of Node and LevelDB. */
export const putTarget: BenchTarget = createScriptTarget('bare db.put', './put-server.ts')

/** A bare `node:http` server with one reply for all requests: the limit of Node. */
export const createBareTarget = (reply: ConstantReply, name = 'bare node:http'): BenchTarget =>
  createScriptTarget(name, './bare-server.ts', JSON.stringify(reply))
