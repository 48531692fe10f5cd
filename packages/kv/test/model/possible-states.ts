import type { HttpReply } from './connection.ts'
import { Difference } from './difference.ts'
import type { EtagHistory, WriteIdentity } from './history.ts'
import { checkGetMany, parseGetMany } from './get-many-reply.ts'
import type { ModelBatch, ModelGetMany, KeyOperation, ModelPut, ModelRange } from './operations.ts'
import type { ModelMatch, ModelOutcome, VisibleChange } from './outcome.ts'
import { getOutcomes } from './outcomes.ts'
import { findMismatch } from './reply-match.ts'
import { parseCount, parseRange } from './range-reply.ts'
import { checkRange, findWrongCount } from './ranges.ts'
import type { RequestInterval, KeySpace } from './key-space.ts'

/** Request that the server may or may not have executed. */
export interface UnansweredRequest {
  readonly operation: KeyOperation | ModelBatch
  readonly write: WriteIdentity
  readonly sentAt: number
}

interface PossibleState {
  readonly space: KeySpace
  /** Puts with a 202 reply, which may take effect at any later time, in order. */
  readonly waiting: readonly UnansweredRequest[]
}

const getEtag = ({ headers }: HttpReply) => headers.get('etag')

const removeDuplicates = (states: readonly PossibleState[]): PossibleState[] =>
  states.filter(
    ({ space, waiting }, i) =>
      states.findIndex((other) => other.space === space && other.waiting.length === waiting.length) === i,
  )

const getSpacesAfter = (
  space: KeySpace,
  { operation, write, sentAt }: UnansweredRequest,
  receivedAt: number,
): KeySpace[] => getOutcomes(space, operation, write, { sentAt, receivedAt }).map((outcome) => outcome.space)

/** Possible states of the server, as one client knows them: usually one. A reply that no state explains is a difference. */
export class PossibleStates {
  readonly #history: EtagHistory
  #states: readonly PossibleState[]

  constructor(history: EtagHistory, spaces: readonly KeySpace[]) {
    this.#history = history
    this.#states = spaces.map((space) => ({ space, waiting: [] }))
  }

  /** One of the possible states, for the choice of operations. */
  get space(): KeySpace {
    return this.#states[0]!.space
  }

  get spaces(): KeySpace[] {
    return [...new Set(this.#applyPending(Date.now()).map(({ space }) => space))]
  }

  /**
   * Retains the states that explain a reply.
   * @returns the changes of the request.
   * @throws Difference if no state explains it
   */
  check(operation: KeyOperation | ModelBatch, write: WriteIdentity, reply: HttpReply): readonly VisibleChange[] {
    const isHead = operation.type === 'head'
    const found: { readonly outcome: ModelOutcome; readonly waiting: PossibleState['waiting'] }[] = []
    const expected = new Set<string>()
    for (const { space, waiting } of this.#expandStates(reply.receivedAt)) {
      for (const outcome of getOutcomes(space, operation, write, reply)) {
        const wrong = findMismatch(outcome, reply, isHead) ?? this.#findWrongEtag(outcome, reply)
        if (wrong === undefined) found.push({ outcome, waiting })
        else expected.add(wrong)
      }
    }
    const [first] = found
    if (!first) throw new Difference(`expected ${[...expected].join(', or ')}`)
    const tagged = new Set(found.map(({ outcome }) => outcome.tagged))
    // With several candidate writes, the owner of this ETag is not known yet.
    if (tagged.size === 1 && first.outcome.tagged) this.#history.recordEtag(first.outcome.tagged, getEtag(reply))
    // A PUT without a condition has the same reply for a value that has expired and for one that has not.
    if (found.length === 1) first.outcome.onMatch?.()
    this.#states = removeDuplicates(found.map(({ outcome: { space }, waiting }) => ({ space, waiting })))
    return first.outcome.changes
  }

  /** Returns the reason why a reply cannot have the ETag of an outcome; undefined if it can. */
  #findWrongEtag({ tagged }: ModelOutcome, reply: HttpReply): string | undefined {
    if (!tagged) return undefined
    const etag = getEtag(reply)
    if (etag === undefined || !/^"[^"]+"$/.test(etag)) return 'an ETag'
    const owner = this.#history.find(etag)
    if (tagged.etag === undefined && owner) return `an ETag of ${tagged.label}: this one is that of ${owner.label}`
    return tagged.etag === undefined || tagged.etag === etag ? undefined : `the ETag ${tagged.etag} of ${tagged.label}`
  }

  /** Retains the states that explain the reply to a range. @throws Difference if no state explains it */
  checkRange(range: ModelRange, reply: HttpReply): void {
    if (range.output === 'count') {
      const count = parseCount(reply)
      return this.#keepMatching(reply, (space) => findWrongCount(space, range, count, reply) ?? { space })
    }
    const before = this.#expandStates(reply.receivedAt)
    const valuesOf = (key: string) =>
      before.flatMap(({ space }) => {
        const entry = space.entries.get(key)
        return entry ? [entry.value] : []
      })
    const found = { listed: parseRange(range, reply, valuesOf), next: reply.headers.get('next') }
    this.#keepMatching(reply, (space) => checkRange(space, range, found, reply))
  }

  /** Retains the states that explain the reply with the values of many keys. @throws Difference if no state explains it */
  checkGetMany(operation: ModelGetMany, reply: HttpReply): void {
    const lines = parseGetMany(reply)
    const etags: (readonly [WriteIdentity, string])[][] = []
    this.#keepMatching(reply, (space) => {
      const found = checkGetMany(space, operation, lines, reply)
      if (typeof found === 'string') return found
      etags.push([...found.etags])
      return found
    })
    if (etags.length === 1) for (const [write, etag] of etags[0]!) this.#history.recordEtag(write, etag)
  }

  /** Retains the states for which `check` returns a match, and not a reason. @throws Difference if no state remains */
  #keepMatching({ receivedAt }: RequestInterval, check: (space: KeySpace) => ModelMatch | string): void {
    const next: (PossibleState & ModelMatch)[] = []
    const reasons = new Set<string>()
    for (const { space, waiting } of this.#expandStates(receivedAt)) {
      const after = check(space)
      if (typeof after === 'string') reasons.add(after)
      else next.push({ ...after, waiting })
    }
    if (next.length === 0) throw new Difference([...reasons].join(', or '))
    if (next.length === 1) next[0]!.onMatch?.()
    this.#states = removeDuplicates(next.map(({ space, waiting }) => ({ space, waiting })))
  }

  /** Adds a put with a 202 reply. */
  addWaiting(operation: ModelPut, write: WriteIdentity, { sentAt }: RequestInterval): void {
    this.#states = this.#states.map(({ space, waiting }) => ({
      space,
      waiting: [...waiting, { operation, write, sentAt }],
    }))
  }

  /** Retains only the states in which all puts with a 202 reply have taken effect. */
  applyUnanswered(): void {
    this.#states = this.#applyPending(Date.now())
  }

  /** Adds the states after a kill: the process executed the first of the unanswered requests, all of them, or no request. */
  cut(unanswered: readonly UnansweredRequest[], killedAt: number): void {
    let last = this.#expandStates(killedAt).map(({ space }) => space)
    const all = [...last]
    for (const request of unanswered) {
      last = last.flatMap((space) => getSpacesAfter(space, request, killedAt))
      all.push(...last)
    }
    this.#states = removeDuplicates(all.map((space) => ({ space, waiting: [] })))
  }

  #applyPending(at: number): PossibleState[] {
    return removeDuplicates(this.#expandStates(at).filter(({ waiting }) => waiting.length === 0))
  }

  /** Returns the current states, and those in which some waiting puts have taken effect. */
  #expandStates(at: number): readonly PossibleState[] {
    if (this.#states.every(({ waiting }) => waiting.length === 0)) return this.#states
    const all = [...this.#states]
    for (const { space, waiting } of all) {
      const [first, ...rest] = waiting
      if (first) all.push(...getSpacesAfter(space, first, at).map((after) => ({ space: after, waiting: rest })))
    }
    return all
  }
}
