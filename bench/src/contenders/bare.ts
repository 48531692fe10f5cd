import type { Contender } from './contender.ts'
import { scriptContender } from './script.ts'

/** What a constant reply is made of. */
export interface ConstantReply {
  readonly status: number
  /** Besides `date`, `connection` and `keep-alive`, which Node adds. */
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
  /** Whether the body of each request is read, and parsed as JSON. */
  readonly parses?: boolean
}

/** A bare `node:http` server with one reply for everything: what Node can do. */
export const bareContender = (reply: ConstantReply, name = 'bare node:http'): Contender =>
  scriptContender(name, './bare-server.ts', JSON.stringify(reply))
