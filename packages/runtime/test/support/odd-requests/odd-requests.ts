import * as fc from 'fast-check'
import { bodies, getFramings, types } from './bodies.ts'
import { pickMostly, anyOf } from './choices.ts'
import { fields, hosts, tokens } from './fields.ts'
import { colons, gaps, lineEnds, methods, requestTargets, targets, versions } from './lines.ts'

/** A request as text, one character per byte, in the parts that a server reads one after another. */
export type OddRequest = readonly string[]

/** One request, usually a valid one. The requests of one case may share their fields, like those of a real client. */
function createRequest(shared: fc.Arbitrary<readonly string[]>): fc.Arbitrary<OddRequest> {
  return requestTargets.chain((requestTarget) => {
    const [usual, target] = requestTarget.split(' ') as [string, string]
    return pickMostly(fc.constant(usual), methods, 6).chain((method) =>
      fc
        .record({
          target: targets(target),
          version: versions,
          gaps: fc.tuple(gaps, gaps),
          ends: fc.tuple(lineEnds, lineEnds),
          fields: shared,
          type: types,
          body: bodies,
          frame: getFramings(method),
          isFramedFirst: fc.boolean(),
        })
        .map((parts) => {
          const { fields: sent, body } = parts.frame(parts.body)
          const type = parts.type === undefined || sent.length === 0 ? [] : [`content-type: ${parts.type}`]
          const lines = parts.isFramedFirst ? [...sent, ...type, ...parts.fields] : [...parts.fields, ...type, ...sent]
          const first = method + parts.gaps[0] + parts.target + parts.gaps[1] + parts.version
          const head = `${first}${parts.ends[0]}${lines.map((line) => `${line}\r\n`).join('')}${parts.ends[1]}`
          return [head + body[0], ...body.slice(1).filter(Boolean)]
        }),
    )
  })
}

/** The fields before those of the body. */
const headers = fc
  .record({ hosts, colon: colons, fields, token: tokens, hostLast: fc.boolean(), end: lineEnds })
  .map(({ hosts: names, colon, fields: others, token, hostLast, end }) => {
    const host = names.map((name) => `Host${colon}${name}${end === '\r\n' ? '' : end.replace(/\r\n$/, '')}`)
    const authorization = token === '' ? [] : [`authorization: Bearer ${token}`]
    return hostLast ? [...authorization, ...others, ...host] : [...host, ...others, ...authorization]
  })

/** The actions of one client on one connection. */
export interface OddCase {
  readonly guarded: boolean
  readonly requests: readonly OddRequest[]
  /** The chunks that it sends to the server adapter. They split the whole text, regardless of where requests end. */
  readonly cuts: 'none' | 'requests' | 'bytes' | readonly number[]
  readonly halfCloses: boolean
}

const requests = fc.oneof(
  { weight: 2, arbitrary: fc.array(createRequest(headers), { minLength: 1, maxLength: 4 }) },
  {
    weight: 2,
    arbitrary: headers.chain((same) =>
      fc.array(createRequest(pickMostly(fc.constant(same), headers, 4)), { minLength: 2, maxLength: 5 }),
    ),
  },
)

export const oddCase: fc.Arbitrary<OddCase> = fc.record({
  guarded: fc.boolean(),
  requests,
  cuts: fc.oneof(
    { weight: 3, arbitrary: anyOf<OddCase['cuts']>('none', 'requests') },
    { weight: 3, arbitrary: fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { minLength: 1, maxLength: 6 }) },
    { weight: 1, arbitrary: fc.constant<OddCase['cuts']>('bytes') },
  ),
  halfCloses: fc.boolean(),
})

// More chunks find no more faults, and take long.
const MAX_CHUNKS = 120

/** The chunks of a case, as sent to the server adapter. */
export function splitCase({ requests: all, cuts }: OddCase): string[] {
  const whole = all.map((parts) => parts.join('')).join('')
  if (cuts === 'none') return [whole]
  if (cuts === 'requests') return all.map((parts) => parts.join('')).filter(Boolean)
  if (cuts === 'bytes') return [...whole.slice(0, MAX_CHUNKS), whole.slice(MAX_CHUNKS)].filter(Boolean)
  const ends = [...cuts.map((cut) => Math.round(cut * whole.length)), whole.length].toSorted((a, b) => a - b)
  return ends.map((end, i) => whole.slice(ends[i - 1] ?? 0, end)).filter(Boolean)
}

/** The rest of the chunks after their first `length` bytes. */
export function sliceChunks(pieces: readonly string[], length: number): string[] {
  let at = 0
  return pieces.flatMap((piece) => {
    const rest = piece.slice(Math.max(0, length - at))
    at += piece.length
    return rest === '' ? [] : [rest]
  })
}
