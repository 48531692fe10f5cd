import { computeMedian } from '@influencer-stats/bench/statistics'
import type { Profiler } from 'node:inspector'
import type { StackFrame } from './frames.ts'
import { readCpuProfile, type Profile, type ProfileCall } from './profile.ts'

/** A time on the monotonic clock, from and to (us). */
export type TimeWindow = readonly [from: number, to: number]

/** One of two compared CPU profiles. */
export interface DifferenceSide {
  readonly profile: Profiler.Profile
  /** Folder of its checkout, with a `/` at its end. */
  readonly root: string
  /** Requests, or other units of work, that the process completed in the window. */
  readonly requests: number
  /** Absent: the whole profile. */
  readonly window?: TimeWindow | undefined
}

/** A value of this checkout and of the base. */
export interface Pair {
  readonly own: number
  readonly base: number
}

/** A function with its call stack in two profiles. */
export interface DifferenceCall {
  readonly frame: StackFrame
  /** Samples in the function itself. */
  own: number
  base: number
  readonly callees: DifferenceCall[]
}

/** Two profiles in one tree. */
export interface ProfileDifference {
  readonly root: DifferenceCall
  /** Time per request of one sample (us). */
  readonly perSample: Pair
  /** Samples with work. */
  readonly total: Pair
}

/** A function in both profiles: processor time of itself per request (us). */
export interface FunctionChange extends Pair {
  readonly frame: StackFrame
  readonly change: number
  /** Twice the standard deviation of the change that chance gives to the numbers of samples. */
  readonly noise: number
}

/** Native code without JavaScript on the stack. Only a difference counts it, because it may grow, too. */
const PROGRAM_FRAME: StackFrame = { name: '(program)', file: '', line: 0, category: 'native' }

/** Equal for a function in both profiles. Lines are not compared, because they move between commits. */
const getMatchKey = ({ name, file }: StackFrame) => `${name}\n${file}`

interface WindowSamples {
  readonly profile: Profile
  /** Time per request of one sample (us). */
  readonly perSample: number
}

/** Counts the samples of a window. @throws Error if it has none */
function readWindow({ profile, root, requests, window }: DifferenceSide): WindowSamples {
  const [from, to] = window ?? [profile.startTime, profile.endTime]
  const counts = new Map<number, number>()
  const intervals: number[] = []
  let time = profile.startTime
  for (const [i, id] of (profile.samples ?? []).entries()) {
    const interval = profile.timeDeltas?.[i] ?? 0
    time += interval
    if (time < from || time > to) continue
    counts.set(id, (counts.get(id) ?? 0) + 1)
    intervals.push(interval)
  }
  if (intervals.length === 0)
    throw new Error(`no sample is between ${from} and ${to} us; the profile is of ${profile.startTime} to ${time} us`)
  const nodes = profile.nodes.map((node) => ({ ...node, hitCount: counts.get(node.id) ?? 0 }))
  // Samples that a busy machine delays or loses must not count as work. With 40 runnable processes on two processors the
  // work of a thread by the median interval was 1.5 times its processor time; by the average interval it was 3.9 times.
  return { profile: readCpuProfile({ nodes }, root), perSample: computeMedian(intervals) / requests }
}

/** Merges the profiles of this checkout and of the base. @throws Error if a window has no sample */
export function readDifference(
  own: DifferenceSide,
  base: DifferenceSide,
  /** Path in this checkout of each file that has another path in the base. */
  renames: ReadonlyMap<string, string> = new Map(),
): ProfileDifference {
  /** Adds the callees of one profile to a call of the common tree. */
  function addSide(call: DifferenceCall, callees: readonly ProfileCall[], side: keyof Pair): void {
    const known = new Map(call.callees.map((callee) => [getMatchKey(callee.frame), callee]))
    for (const { frame: found, self, callees: next } of callees) {
      const frame = side === 'base' ? { ...found, file: renames.get(found.file) ?? found.file } : found
      const key = getMatchKey(frame)
      let callee = known.get(key)
      if (!callee) {
        callee = { frame, own: 0, base: 0, callees: [] }
        known.set(key, callee)
        call.callees.push(callee)
      }
      callee[side] += self
      addSide(callee, next, side)
    }
  }
  const sides = { own: readWindow(own), base: readWindow(base) }
  const root: DifferenceCall = { frame: sides.own.profile.root.frame, own: 0, base: 0, callees: [] }
  for (const side of ['own', 'base'] as const) {
    const { profile } = sides[side]
    const program: ProfileCall = { frame: PROGRAM_FRAME, self: profile.program, callees: [] }
    addSide(root, [...profile.root.callees, program], side)
  }
  const count = ({ profile }: WindowSamples) => profile.total + profile.program
  return {
    root,
    perSample: { own: sides.own.perSample, base: sides.base.perSample },
    total: { own: count(sides.own), base: count(sides.base) },
  }
}

/** Time per request of both sides, the change and its noise (us). @param samples of both sides */
export function measureChange(samples: Pair, { perSample }: ProfileDifference): Omit<FunctionChange, 'frame'> {
  const own = samples.own * perSample.own
  const base = samples.base * perSample.base
  return { own, base, change: own - base, noise: 2 * Math.sqrt(own * perSample.own + base * perSample.base) }
}

/** All functions with their own time, the largest growth first. */
export function listChanges(difference: ProfileDifference): FunctionChange[] {
  const functions = new Map<string, { frame: StackFrame; own: number; base: number }>()
  function add({ frame, own, base, callees }: DifferenceCall): void {
    const key = getMatchKey(frame)
    let found = functions.get(key)
    if (!found) functions.set(key, (found = { frame, own: 0, base: 0 }))
    found.own += own
    found.base += base
    callees.forEach(add)
  }
  difference.root.callees.forEach(add)
  return [...functions.values()]
    .filter(({ own, base }) => own + base > 0)
    .map(({ frame, ...samples }) => ({ frame, ...measureChange(samples, difference) }))
    .toSorted((a, b) => b.change - a.change)
}
