import type { BenchTarget } from './target.ts'
import { createScriptTarget } from './program.ts'

/** What a constant reply is made of. */
export interface ConstantReply {
  readonly status: number
  /** Besides `date`, `connection` and `keep-alive`, which Node adds. */
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
  /** What is done with the body of each request before it is answered; without it, nothing. */
  readonly bodyMode?: 'bytes' | 'json'
}

/** A bare `node:net` server that parses nothing and answers each read with the same bytes: the floor. */
export const createFloorTarget = (reply: ConstantReply): BenchTarget =>
  createScriptTarget('bare node:net', './floor-server.ts', JSON.stringify(reply))

/** A bare `node:http` server around `db.put`: what Node and LevelDB can do. */
export const putTarget: BenchTarget = createScriptTarget('bare db.put', './put-server.ts')

/** A bare `node:http` server with one reply for everything: what Node can do. */
export const createBareTarget = (reply: ConstantReply, name = 'bare node:http'): BenchTarget =>
  createScriptTarget(name, './bare-server.ts', JSON.stringify(reply))
