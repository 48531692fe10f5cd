/** Media type of a problem (RFC 9457). */
export const PROBLEM_TYPE = 'application/problem+json'

/** Body of a problem (RFC 9457). */
export const problemSchema = {
  type: 'object',
  title: 'Problem',
  required: ['type', 'title', 'status', 'code'],
  additionalProperties: false,
  properties: {
    type: { type: 'string', description: 'URN of the kind of problem.' },
    title: { type: 'string', description: 'Title of the kind of problem.' },
    status: { type: 'integer', description: 'HTTP status.' },
    detail: { type: 'string', description: 'Cause of the problem of this request.' },
    code: { type: 'string', description: 'Stable code of the kind of problem.' },
  },
} as const

/** A problem in another format than RFC 9457. */
export interface FormattedProblem {
  readonly contentType: string
  readonly body: string
}

/** Status and title of one code in a catalogue of errors. */
export interface ErrorEntry {
  readonly status: number
  readonly title: string
}

export interface ProblemExtras {
  /** Headers of the reply, `retry-after` for instance. */
  readonly headers?: Readonly<Record<string, string>>
  /** The underlying error: logged, never sent. */
  readonly cause?: unknown
  /** Additional members of the body, specific to this kind. */
  readonly members?: Readonly<Record<string, unknown>>
}

/** An error with a code, a status and a text that any client may see. */
export class Problem extends Error {
  readonly code: string
  readonly status: number
  readonly title: string
  readonly detail: string | undefined
  readonly headers: Readonly<Record<string, string>>
  readonly members: Readonly<Record<string, unknown>> | undefined

  constructor(code: string, entry: ErrorEntry, detail?: string, extras: ProblemExtras = {}) {
    super(detail ?? entry.title, { cause: extras.cause })
    this.name = 'Problem'
    this.code = code
    this.status = entry.status
    this.title = entry.title
    this.detail = detail
    this.headers = extras.headers ?? {}
    this.members = extras.members
  }

  /** Serializes the body of the reply. */
  toBody(): string {
    return JSON.stringify({
      type: `urn:influencer-stats:problem:${this.code}`,
      title: this.title,
      status: this.status,
      detail: this.detail,
      code: this.code,
      ...this.members,
    })
  }
}

/** Formats a problem as RFC 9457 defines it. */
export const formatProblem = (problem: Problem): FormattedProblem => ({
  contentType: PROBLEM_TYPE,
  body: problem.toBody(),
})

/** Function that creates a `Problem` of one kind. It also has the code, status and title of the kind, for schemas. */
export type ProblemKind = ErrorEntry & {
  (detail?: string, extras?: ProblemExtras): Problem
  readonly code: string
}

/** Creates one function per code from a catalogue of errors. */
export function defineErrors<const T extends Record<string, ErrorEntry>>(
  catalogue: T,
): { [K in keyof T]: ProblemKind } {
  const kinds: Record<string, ProblemKind> = {}
  for (const [code, entry] of Object.entries(catalogue)) {
    const kind = (detail?: string, extras?: ProblemExtras) => new Problem(code, entry, detail, extras)
    kinds[code] = Object.assign(kind, { code, ...entry })
  }
  return kinds as { [K in keyof T]: ProblemKind }
}

/** Response schemas by status, as a route's `schema.response` takes them. */
export type ProblemReplies = Record<
  number,
  { description: string; content: Record<string, { schema: typeof problemSchema }> }
>

/** Builds the response schemas of the problems that a route can return, by status. */
export function buildProblemReplies(...kinds: ProblemKind[]): ProblemReplies {
  const byStatus = Map.groupBy(kinds, (kind) => kind.status)
  const replies: ProblemReplies = {}
  for (const [status, group] of byStatus) {
    replies[status] = {
      description: group.map((kind) => `\`${kind.code}\` ${kind.title}`).join('; '),
      content: { [PROBLEM_TYPE]: { schema: problemSchema } },
    }
  }
  return replies
}

/**
 * An error in the form that passes between threads, because cloning an Error preserves its message but not its fields.
 */
export interface WireError {
  /** The `members` must be data that can be cloned. */
  readonly problem?: Pick<Problem, 'code' | 'status' | 'title' | 'detail' | 'headers' | 'members'>
  /** The underlying error, for the log. */
  readonly cause?: Error
  /** An error that is not a problem. */
  readonly error?: unknown
}

export function toWireError(error: unknown): WireError {
  if (!(error instanceof Problem))
    return { error: error instanceof Error ? toPlainError(error) : new Error(String(error)) }
  const { code, status, title, detail, headers, members, cause } = error
  return {
    ...(cause instanceof Error && { cause: toPlainError(cause) }),
    problem: { code, status, title, detail, headers, members },
  }
}

/**
 * Copies an error without its `cause`, which might not be cloneable. If cloning failed, the caller would get no reply.
 */
function toPlainError({ message, stack }: Error): Error {
  return Object.assign(new Error(message), { stack })
}

export function parseWireError({ problem, cause, error }: WireError): Error {
  if (!problem) return error instanceof Error ? error : new Error(String(error))
  const { code, detail, headers, members } = problem
  return new Problem(code, problem, detail, { headers, cause, ...(members && { members }) })
}
