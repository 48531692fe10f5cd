import { getHome, getKey, type Category, type StackFrame } from './frames.ts'
import { getWeight, type ProfileCall, type Profile } from './profile.ts'

/** A function and its shares of a profile, in percent. */
export interface HotFunction {
  readonly function: string
  readonly file: string
  readonly line: number
  readonly category: Category
  /** Share of the function itself. */
  readonly self: number
  /** Share of the function and of all functions that it calls. Recursive calls count once. */
  readonly total: number
}

/** A component of a service: files, packages and `node:` modules. */
export interface Component {
  readonly name: string
  /** Prefixes of `StackFrame.file`. */
  readonly files: readonly string[]
  /** Prefixes of files that work for several components. They count for this one only without a caller of another. */
  readonly shared?: readonly string[]
}

/** A share of a profile in percent. */
export interface Share {
  readonly name: string
  readonly share: number
}

const MAX_ROWS = 40
const MAX_APP_ROWS = 15

/** Returns a share in percent, with two decimals. */
export const toPercent = (part: number, whole: number) =>
  whole === 0 ? 0 : Math.round(((100 * part) / whole) * 100) / 100

/** Visits every call except the root. `callers` are its callers, the nearest last. */
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

/** Returns the functions with the largest own shares, and those of this repository with the largest totals. */
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
    self: toPercent(self, profile.total),
    total: toPercent(total, profile.total),
  }))
}

/** Sums the own shares of calls by the names that `getName` returns; the largest sum first. */
function sumByName(profile: Profile, getName: (call: ProfileCall, callers: readonly ProfileCall[]) => string): Share[] {
  const shares = new Map<string, number>()
  function add(call: ProfileCall, callers: readonly ProfileCall[]): void {
    if (call.self === 0) return
    const name = getName(call, callers)
    shares.set(name, (shares.get(name) ?? 0) + call.self)
  }
  // The root has the weight of removed calls.
  add(profile.root, [])
  walk(profile, add)
  return [...shares]
    .toSorted(([, a], [, b]) => b - a)
    .map(([name, weight]) => ({ name, share: toPercent(weight, profile.total) }))
}

/**
 * Returns the component of a call: its own, or that of the nearest caller with a component. Shared files have a
 * component only if there is no such caller.
 */
function findComponent(
  call: ProfileCall,
  callers: readonly ProfileCall[],
  components: readonly Component[],
): string | undefined {
  const frames = [call, ...callers.toReversed()].map(({ frame }) => frame)
  const find = (getPrefixes: (component: Component) => readonly string[]) => {
    for (const { file } of frames) {
      const component = components.find((one) => getPrefixes(one).some((prefix) => file.startsWith(prefix)))
      if (component) return component.name
    }
    return undefined
  }
  return find(({ files }) => files) ?? find(({ shared = [] }) => shared)
}

/** Sums the shares of components, native work included: it counts for the component of the nearest caller. */
export function sumComponents(profile: Profile, components: readonly Component[]): Share[] {
  return sumByName(profile, (call, callers) => {
    const component = findComponent(call, callers, components)
    return component ?? (call.frame.name === '(garbage collector)' ? 'garbage collector' : 'other')
  })
}

/** Sums the own shares of each file of this repository, each package, and each module of Node. */
export const sumHomes = (profile: Profile): Share[] =>
  sumByName(profile, ({ frame }) => getHome(frame)).slice(0, MAX_ROWS)

/**
 * Sums the own share of a function by its callers; the largest first. A caller is the nearest function of this
 * repository, or else of a package, or else the component.
 */
export function listCallers(
  profile: Profile,
  { function: name, file, line }: HotFunction,
  components: readonly Component[],
): Share[] {
  const key = getKey({ name, file, line, category: 'native' })
  const shares = sumByName(profile, (call, callers) => {
    if (getKey(call.frame) !== key) return ''
    const nearest = (category: Category) => callers.findLast((caller) => caller.frame.category === category)?.frame
    const nearestCaller = nearest('app') ?? nearest('dependency')
    if (nearestCaller) return `\`${nearestCaller.name}\` (${nearestCaller.file}:${nearestCaller.line})`
    const component = findComponent(call, callers, components)
    return component ? `the ${component}` : ''
  })
  return shares.filter((share) => share.name !== '')
}
