import { getHome, getKey, type Category, type StackFrame } from './frames.ts'
import { getWeight, type ProfileCall, type Profile } from './profile.ts'
import { toPresentFile } from './renamed.ts'

/** A function and its shares of a profile, in percent. */
export interface HotFunction {
  readonly function: string
  readonly file: string
  readonly line: number
  readonly category: Category
  /** In the function itself. */
  readonly self: number
  /** In it and in all functions that it calls; a recursive function counts once. */
  readonly total: number
}

/** A component of the whole: the files, packages or `node:` modules that make it up. */
export interface Component {
  readonly name: string
  /** Prefixes of `Frame.file`. */
  readonly files: readonly string[]
}

/** A share of a profile in percent. */
export interface Share {
  readonly name: string
  readonly share: number
}

const MAX_ROWS = 40
const MAX_APP_ROWS = 15

const roundShare = (share: number) => Math.round(share * 100) / 100
const toPercent = (weight: number, { total }: Profile) => (total === 0 ? 0 : roundShare((100 * weight) / total))

/** Visits every call except the root, with its callers, the nearest last. */
function walk(profile: Profile, visit: (call: ProfileCall, callers: readonly ProfileCall[]) => void): void {
  const callers: ProfileCall[] = []
  function walkCallees(call: ProfileCall): void {
    for (const callee of call.callees) {
      visit(callee, callers)
      callers.push(callee)
      walkCallees(callee)
      callers.pop()
    }
  }
  walkCallees(profile.root)
}

/** The functions with the largest own shares, and the app's functions with the largest total shares. */
export function listHotFunctions(profile: Profile): HotFunction[] {
  const functions = new Map<string, { frame: StackFrame; self: number; total: number }>()
  walk(profile, ({ frame, self, ...call }, callers) => {
    const key = getKey(frame)
    let found = functions.get(key)
    if (!found) functions.set(key, (found = { frame, self: 0, total: 0 }))
    found.self += self
    const calledByItself = callers.some((caller) => getKey(caller.frame) === key)
    if (!calledByItself) found.total += getWeight({ frame, self, ...call })
  })
  const all = [...functions.values()].filter(({ total }) => total > 0)
  const bySelf = all.toSorted((a, b) => b.self - a.self).slice(0, MAX_ROWS)
  const ofApp = all.filter(({ frame }) => frame.category === 'app').toSorted((a, b) => b.total - a.total)
  return [...new Set([...bySelf, ...ofApp.slice(0, MAX_APP_ROWS)])].map(({ frame, self, total }) => ({
    function: frame.name,
    file: frame.file,
    line: frame.line,
    category: frame.category,
    self: toPercent(self, profile),
    total: toPercent(total, profile),
  }))
}

/** Sums a profile by the names that `nameOf` gives to its calls; the largest first. */
function sum(profile: Profile, nameOf: (call: ProfileCall, callers: readonly ProfileCall[]) => string): Share[] {
  const shares = new Map<string, number>()
  walk(profile, (call, callers) => {
    if (call.self === 0) return
    const name = nameOf(call, callers)
    shares.set(name, (shares.get(name) ?? 0) + call.self)
  })
  return [...shares]
    .toSorted(([, a], [, b]) => b - a)
    .map(([name, weight]) => ({ name, share: toPercent(weight, profile) }))
}

/** The component of a call: that of the nearest caller with a component. */
function findComponent(
  call: ProfileCall,
  callers: readonly ProfileCall[],
  components: readonly Component[],
): string | undefined {
  for (const { frame } of [call, ...callers.toReversed()]) {
    const present = toPresentFile(frame.file)
    const component = components.find(({ files }) => files.some((prefix) => present.startsWith(prefix)))
    if (component) return component.name
  }
  return undefined
}

/** Share of each component, including its native work: the nearest caller with a component determines it. */
export function sumComponents(profile: Profile, components: readonly Component[]): Share[] {
  return sum(profile, (call, callers) => {
    const component = findComponent(call, callers, components)
    return component ?? (call.frame.name === '(garbage collector)' ? 'garbage collector' : 'other')
  })
}

/** Own share of each file of the app, each package, and each module of Node. */
export const sumHomes = (profile: Profile): Share[] => sum(profile, ({ frame }) => getHome(frame)).slice(0, MAX_ROWS)

/** Callers of a function: its nearest caller in the app, else in a package, else its component; the largest first. */
export function listCallers(
  profile: Profile,
  { function: name, file, line }: HotFunction,
  components: readonly Component[],
): Share[] {
  const key = getKey({ name, file, line, category: 'native' })
  const shares = sum(profile, (call, callers) => {
    if (getKey(call.frame) !== key) return ''
    const nearest = (category: Category) => callers.findLast((caller) => caller.frame.category === category)?.frame
    const nearestCaller = nearest('app') ?? nearest('dependency')
    if (nearestCaller) return `\`${nearestCaller.name}\` (${nearestCaller.file}:${nearestCaller.line})`
    const component = findComponent(call, callers, components)
    return component ? `the ${component}` : ''
  })
  return shares.filter((share) => share.name !== '')
}
