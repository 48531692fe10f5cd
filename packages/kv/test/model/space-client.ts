import { ModelConnection, ConnectionLost, type HttpReply } from './connection.ts'
import { Difference } from './difference.ts'
import type { EtagHistory, WriteIdentity } from './history.ts'
import { generateKeyPool } from './keys.ts'
import type { OperationLog } from './operation-log.ts'
import type { OperationContext } from './operation-source.ts'
import type {
  ModelBatch,
  ModelDelete,
  KeyOperation,
  ModelOperation,
  ModelPut,
  ModelRange,
  SetExpiry,
} from './operations.ts'
import type { VisibleChange } from './outcome.ts'
import { getOutcomes } from './outcomes.ts'
import { parseCode } from './reply-match.ts'
import { createReport } from './report.ts'
import type { SeededRandom } from '@influencer-stats/runtime/testing/seeded-random'
import { toRequest } from './requests.ts'
import { KeySpace } from './key-space.ts'
import { PossibleStates, type UnansweredRequest } from './possible-states.ts'

const CONNECTION_COUNT = 3
const POOL_SIZE = 50
const MAX_ETAGS = 200

export interface SpaceClientOptions {
  readonly name: string
  readonly prefix: string
  readonly end: string
  readonly random: SeededRandom
  readonly history: EtagHistory
  readonly log: OperationLog
}

/**
 * Client and the keys that it alone writes. It sends one request at a time, or a pipeline on one connection. Therefore the
 * model predicts each reply, while other clients load the same service.
 */
export class SpaceClient {
  readonly name: string
  readonly prefix: string
  readonly end: string
  readonly random: SeededRandom
  readonly #pool: readonly string[]
  readonly #history: EtagHistory
  readonly #log: OperationLog
  #states: PossibleStates
  #port = 0
  #openConnections: (ModelConnection | undefined)[] = []
  #unanswered: UnansweredRequest[] = []
  #etags: string[] = []
  #snapshots: Set<KeySpace> | undefined
  /** Changes that a stream opened at the start of the phase must show, in this order. */
  changes: VisibleChange[] = []
  /** Additional changes that a stream may show after a kill of the process. */
  possiblyChanged: readonly VisibleChange[] = []
  operations = 0
  /**
   * True if the client writes values that expire and uses idempotency keys. A database without them takes other code paths.
   */
  isTimed = true

  constructor({ name, prefix, end, random, history, log }: SpaceClientOptions) {
    this.name = name
    this.prefix = prefix
    this.end = end
    this.random = random
    this.#history = history
    this.#log = log
    this.#pool = generateKeyPool(random, prefix, POOL_SIZE)
    this.#states = new PossibleStates(history, [KeySpace.EMPTY])
  }

  get context(): OperationContext {
    const { random, prefix, end, isTimed } = this
    return { random, prefix, end, isTimed, pool: this.#pool, space: this.#states.space, etags: this.#etags }
  }

  get keyPool(): readonly string[] {
    return this.#pool
  }

  /** Possible states of the service. */
  get spaces(): readonly KeySpace[] {
    return this.#states.spaces
  }

  /** Sets the possible states of the service. */
  restore(spaces: readonly KeySpace[]): void {
    this.#states = new PossibleStates(this.#history, spaces)
  }

  connect(port: number): void {
    this.#port = port
  }

  /** Starts a phase with empty lists of the changes that a stream must or may show. */
  beginPhase(isTimed: boolean): void {
    this.isTimed = isTimed
    this.changes = []
    this.possiblyChanged = []
  }

  disconnect(): void {
    for (const getConnection of this.#openConnections) getConnection?.close()
    this.#openConnections = []
  }

  /** Records each state until `takeSnapshots()`. A backup taken meanwhile contains one of these states. */
  noteSnapshots(): void {
    this.#snapshots = new Set(this.spaces)
  }

  takeSnapshots(): KeySpace[] {
    const taken = [...this.#snapshots!]
    this.#snapshots = undefined
    return taken
  }

  /** Updates the states after a kill: the process may or may not have executed the unanswered requests. */
  cut(): void {
    this.possiblyChanged = this.#unanswered.flatMap(({ operation, write, sentAt }) =>
      this.spaces
        .flatMap((space) => getOutcomes(space, operation, write, { sentAt, receivedAt: Date.now() }))
        .flatMap(({ changes }) => changes),
    )
    this.#states.cut(this.#unanswered, Date.now())
    this.#unanswered = []
    this.disconnect()
  }

  /** @param index index among the client's connections */
  getConnection(index = this.random.below(CONNECTION_COUNT)): ModelConnection {
    const open = this.#openConnections[index]
    if (open && !open.isClosed) return open
    return (this.#openConnections[index] = new ModelConnection(this.#port))
  }

  openConnections(): ModelConnection[] {
    return Array.from({ length: CONNECTION_COUNT }, (_, index) => this.getConnection(index))
  }

  async runOperation(operation: ModelOperation, getConnection = this.getConnection()): Promise<HttpReply> {
    const [reply] = await this.runPipeline([operation], getConnection)
    return reply!
  }

  /** Sends operations in one write and checks the replies in order. @throws Difference, ConnectionLost */
  async runPipeline(operations: readonly ModelOperation[], getConnection = this.getConnection()): Promise<HttpReply[]> {
    const writes = operations.map(({ type }) => this.#history.createWrite(`${type} by ${this.name}`))
    const sentAt = Date.now()
    const answers = getConnection.sendAll(operations.map((operation) => toRequest(operation, this.random)))
    for (const [i, operation] of operations.entries()) {
      if (isChange(operation)) this.#unanswered.push({ operation, write: writes[i]!, sentAt })
    }
    // Awaits all replies, because one lost reply ends the others, too.
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
   * Sends a PUT that the server may answer before it executes it. Until the reply to a later request on the same connection,
   * its value may or may not be visible.
   */
  async putAsync(operation: ModelPut, reads: readonly ModelOperation[], later: ModelPut): Promise<void> {
    const getConnection = this.getConnection()
    const write = this.#history.createWrite(`async put by ${this.name}`)
    const sentAt = Date.now()
    this.#unanswered.push({ operation, write, sentAt })
    const reply = await getConnection.send(toRequest(operation, this.random))
    this.#log.add(this.name, operation, reply)
    if (reply.status !== 202) {
      // The contract allows another status. The PUT is then an ordinary one.
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
    for (const read of reads) await this.runOperation(read)
    const laterWrite = this.#history.createWrite(`put by ${this.name}`)
    this.#unanswered.push({ operation: later, write: laterWrite, sentAt: Date.now() })
    const laterReply = await getConnection.send(toRequest(later, this.random))
    this.#log.add(this.name, later, laterReply)
    this.#states.applyUnanswered()
    this.#explain(later, laterReply, () => this.#apply(later, laterWrite, laterReply))
  }

  #check(operation: ModelOperation, write: WriteIdentity, reply: HttpReply): void {
    this.operations++
    this.#log.add(this.name, operation, reply)
    this.#explain(operation, reply, () => {
      if (operation.type === 'range') this.#states.checkRange(operation, reply)
      else if (operation.type === 'get-many') this.#states.checkGetMany(operation, reply)
      else if (operation.type !== 'refused') this.#apply(operation, write, reply)
      else if (reply.status !== operation.status || parseCode(reply.body) !== operation.code)
        throw new Difference(`expected ${operation.status} ${operation.code}`)
    })
  }

  #apply(operation: KeyOperation | ModelBatch, write: WriteIdentity, reply: HttpReply): void {
    this.changes.push(...this.#states.check(operation, write, reply))
    if (isChange(operation)) this.#unanswered.shift()
    const etag = reply.headers.get('etag')
    if (etag !== undefined && this.#etags.at(-1) !== etag) this.#etags.push(etag)
    if (this.#etags.length > MAX_ETAGS) this.#etags.splice(0, MAX_ETAGS / 2)
    for (const space of this.#snapshots ? this.spaces : []) this.#snapshots!.add(space)
  }

  #explain(operation: ModelOperation, reply: HttpReply, check: () => void): void {
    try {
      check()
    } catch (error) {
      throw this.#report(operation, reply, error)
    }
  }

  #report(operation: ModelOperation, reply: HttpReply | undefined, error: unknown): Difference {
    return createReport(
      { client: this.name, operation, reply, space: this.context.space, log: this.#log },
      error as Error,
    )
  }

  /** Returns the range of all keys of the client. */
  readAll(output: ModelRange['output']): ModelRange {
    return { type: 'range', start: this.prefix, end: this.end, output }
  }
}

const CHANGE_TYPES = new Set<ModelOperation['type']>(['put', 'delete', 'batch', 'set-expiry'])
const isChange = (operation: ModelOperation): operation is ModelPut | ModelDelete | ModelBatch | SetExpiry =>
  CHANGE_TYPES.has(operation.type)
