import type { Problem } from '@influencer-stats/runtime/problems'
import type { QuotaKind } from '../core/quota-budget.ts'
import type { ReplyContext } from './error-reply.ts'

/** One call of the API. */
export interface ApiCall<Result> {
  readonly kind: QuotaKind
  /** What is requested, for log lines. */
  readonly label: string
  /** Headers in addition to those of every call. */
  readonly headers?: Readonly<Record<string, string>>
  /** Returns the path and query. Called when the call is sent. */
  buildPath(key: string): string
  /**
   * Parses the reply.
   * @param context properties of a reply whose status is not 200
   * @throws Problem `UPSTREAM_UNAVAILABLE`
   */
  parse(status: number, text: string, context: ReplyContext | undefined): Result
  /** Returns the result of a failed call, or throws the problem. */
  fail(problem: Problem): Result
}

/** Sends a call. Rejects only with what `fail` of the call throws. */
export type SendCall = <Result>(call: ApiCall<Result>) => Promise<Result>
