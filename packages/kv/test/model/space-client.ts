import { Connection, ConnectionLost, type HttpReply } from './connection.ts'
import { Difference } from './difference.ts'
import type { EtagHistory, WriteIdentity } from './history.ts'
import { keyPool } from './keys.ts'
import type { OperationLog } from './operation-log.ts'
import type { OperationContext } from './operation-source.ts'
import type { Batch, Delete, KeyOperation, Operation, Put, Range, SetExpiry } from './operations.ts'
import type { VisibleChange } from './outcome.ts'
import { outcomesOf } from './outcomes.ts'
import { codeOf } from './reply-match.ts'
import { reportOf } from './report.ts'
import type { Random } from './random.ts'
import { toRequest } from './requests.ts'
import { Space } from './space.ts'
import { PossibleStates, type UnansweredRequest } from './states.ts'

const CONNECTIONS = 3
const POOL_SIZE = 50
const MAX_ETAGS = 200

export interface SpaceClientOptions {
  readonly name: string
  readonly prefix: string
  readonly end: string
  readonly random: Random
  readonly history: EtagHistory
  readonly log: OperationLog
}

/**
 * One client and the keys that it alone writes. It sends one request at a time, or a pipeline on one connection, so each
 * reply is known beforehand, while other clients load the same service.
 */
export class SpaceClient {
  readonly name: string
  readonly prefix: string
  readonly end: string
  readonly random: Random
  readonly #pool: readonly string[]
  readonly #history: EtagHistory
  readonly #log: OperationLog
  #states: PossibleStates
  #port = 0
  #connections: (Connection | undefined)[] = []
  #unanswered: UnansweredRequest[] = []
  #etags: string[] = []
  #snapshots: Set<Space> | undefined
  /** What a stream of changes that began with the phase must show, in this order. */
  changes: VisibleChange[] = []
  /** What a stream may show besides, where the process was killed. */
  maybeChanged: readonly VisibleChange[] = []
  operations = 0
  /** Whether it writes values that expire, and uses idempotency keys: a base without them takes other paths. */
  isTimed = true

  constructor({ name, prefix, end, random, history, log }: SpaceClientOptions) {
    this.name = name
    this.prefix = prefix
    this.end = end
    this.random = random
    this.#history = history
    this.#log = log
    this.#pool = keyPool(random, prefix, POOL_SIZE)
    this.#states = new PossibleStates(history, [Space.EMPTY])
  }

  get context(): OperationContext {
    const { random, prefix, end, isTimed } = this
    return { random, prefix, end, isTimed, pool: this.#pool, space: this.#states.space, etags: this.#etags }
  }

  get keyPool(): readonly string[] {
    return this.#pool
  }

  /** The states in which the service may be. */
  get spaces(): readonly Space[] {
    return this.#states.spaces
  }

  /** The service is in one of these states from now on. */
  restore(spaces: readonly Space[]): void {
    this.#states = new PossibleStates(this.#history, spaces)
  }

  connect(port: number): void {
    this.#port = port
  }

  /** Begins the list of what a stream of changes must show. */
  beginPhase(isTimed: boolean): void {
    this.isTimed = isTimed
    this.changes = []
    this.maybeChanged = []
  }

  disconnect(): void {
    for (const connection of this.#connections) connection?.close()
    this.#connections = []
  }

  /** From now on it notes each state, until it gives them: a backup that is made meanwhile is of one of them. */
  noteSnapshots(): void {
    this.#snapshots = new Set(this.spaces)
  }

  takeSnapshots(): Space[] {
    const taken = [...this.#snapshots!]
    this.#snapshots = undefined
    return taken
  }

  /** The process was killed: what was not answered was executed or not. */
  cut(): void {
    this.maybeChanged = this.#unanswered.flatMap(({ operation, write, sentAt }) =>
      this.spaces
        .flatMap((space) => outcomesOf(space, operation, write, { sentAt, receivedAt: Date.now() }))
        .flatMap(({ changes }) => changes),
    )
    this.#states.cut(this.#unanswered, Date.now())
    this.#unanswered = []
    this.disconnect()
  }

  /** @param index which of the client's connections */
  connection(index = this.random.below(CONNECTIONS)): Connection {
    const open = this.#connections[index]
    if (open && !open.isClosed) return open
    return (this.#connections[index] = new Connection(this.#port))
  }

  connections(): Connection[] {
    return Array.from({ length: CONNECTIONS }, (_, index) => this.connection(index))
  }

  async perform(operation: Operation, connection = this.connection()): Promise<HttpReply> {
    const [reply] = await this.pipeline([operation], connection)
    return reply!
  }

  /** Sends operations in one write and checks the replies in their order. @throws Difference, ConnectionLost */
  async pipeline(operations: readonly Operation[], connection = this.connection()): Promise<HttpReply[]> {
    const writes = operations.map(({ type }) => this.#history.newWrite(`${type} by ${this.name}`))
    const sentAt = Date.now()
    const answers = connection.sendAll(operations.map((operation) => toRequest(operation, this.random)))
    for (const [i, operation] of operations.entries()) {
      if (isChange(operation)) this.#unanswered.push({ operation, write: writes[i]!, sentAt })
    }
    // All are awaited: one that is lost ends the others, too.
    const settled = Promise.allSettled(answers)
    const replies: HttpReply[] = []
    for (const [i, operation] of operations.entries()) {
      const reply = await answers[i]!.catch(async (error: unknown) => {
        await settled
        this.#log.add(this.name, operation)
        throw error instanceof ConnectionLost ? error : this.#report(operation, undefined, error)
      })
      this.#check(operation, writes[i]!, reply)
      replies.push(reply)
    }
    return replies
  }

  /**
   * A PUT that may be answered before it is executed. Until a later request on the same connection was answered, its value
   * may be seen or not.
   */
  async putAsync(operation: Put, reads: readonly Operation[], later: Put): Promise<void> {
    const connection = this.connection()
    const write = this.#history.newWrite(`async put by ${this.name}`)
    const sentAt = Date.now()
    this.#unanswered.push({ operation, write, sentAt })
    const reply = await connection.send(toRequest(operation, this.random))
    this.#log.add(this.name, operation, reply)
    if (reply.status !== 202) {
      // The contract allows it: then it is a PUT like others.
      this.#explain(operation, reply, () => this.#apply(operation, write, reply))
      return
    }
    this.#explain(operation, reply, () => {
      if (reply.headers.get('preference-applied') !== 'respond-async') throw new Difference('no preference-applied')
    })
    const { key, value } = operation
    this.changes.push({ op: 'put', key, value, request: write })
    this.#unanswered = []
    this.#states.addWaiting(operation, write, { sentAt, receivedAt: reply.receivedAt })
    for (const read of reads) await this.perform(read)
    const laterWrite = this.#history.newWrite(`put by ${this.name}`)
    this.#unanswered.push({ operation: later, write: laterWrite, sentAt: Date.now() })
    const laterReply = await connection.send(toRequest(later, this.random))
    this.#log.add(this.name, later, laterReply)
    this.#states.settle()
    this.#explain(later, laterReply, () => this.#apply(later, laterWrite, laterReply))
  }

  #check(operation: Operation, write: WriteIdentity, reply: HttpReply): void {
    this.operations++
    this.#log.add(this.name, operation, reply)
    this.#explain(operation, reply, () => {
      if (operation.type === 'range') this.#states.checkRange(operation, reply)
      else if (operation.type === 'get-many') this.#states.checkMany(operation, reply)
      else if (operation.type !== 'refused') this.#apply(operation, write, reply)
      else if (reply.status !== operation.status || codeOf(reply.body) !== operation.code)
        throw new Difference(`expected ${operation.status} ${operation.code}`)
    })
  }

  #apply(operation: KeyOperation | Batch, write: WriteIdentity, reply: HttpReply): void {
    this.changes.push(...this.#states.check(operation, write, reply))
    if (isChange(operation)) this.#unanswered.shift()
    const etag = reply.headers.get('etag')
    if (etag !== undefined && this.#etags.at(-1) !== etag) this.#etags.push(etag)
    if (this.#etags.length > MAX_ETAGS) this.#etags.splice(0, MAX_ETAGS / 2)
    for (const space of this.#snapshots ? this.spaces : []) this.#snapshots!.add(space)
  }

  #explain(operation: Operation, reply: HttpReply, check: () => void): void {
    try {
      check()
    } catch (error) {
      throw this.#report(operation, reply, error)
    }
  }

  #report(operation: Operation, reply: HttpReply | undefined, error: unknown): Difference {
    return reportOf({ client: this.name, operation, reply, space: this.context.space, log: this.#log }, error as Error)
  }

  /** The range of all its keys. */
  all(output: Range['output']): Range {
    return { type: 'range', start: this.prefix, end: this.end, output }
  }
}

const CHANGES = new Set<Operation['type']>(['put', 'delete', 'batch', 'set-expiry'])
const isChange = (operation: Operation): operation is Put | Delete | Batch | SetExpiry => CHANGES.has(operation.type)
