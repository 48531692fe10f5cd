import type { HeapProfiler, Profiler } from 'node:inspector'
import { frameOf, keyOf, type CallFrame, type Frame } from './frames.ts'

/** A function as called by those above it. */
export interface Call {
  readonly frame: Frame
  /** Samples or bytes in the function itself. */
  self: number
  readonly callees: Call[]
}

/** What a thread did in its window. */
export interface Profile {
  readonly unit: 'samples' | 'bytes'
  /** Calls that nobody in JavaScript made, for a root. */
  readonly root: Call
  /** All of the root: what percentages are of. */
  readonly total: number
  /** Samples without work. */
  readonly idle: number
  /** Samples in native code with no JavaScript on the stack: the event loop, the HTTP parser, reading sockets. */
  readonly program: number
}

const ROOT: Frame = { name: 'all', file: '', line: 0, category: 'native' }
// The work of those who look on in the profiled threads is none of theirs.
const HARNESS = /^(?:flame|bench)\/src\//

interface Node {
  readonly callFrame: CallFrame
  readonly self: number
  readonly children: readonly Node[]
}

/** Adds a V8 node's callees to `call`, those that are the same function made one. */
function adopt(call: Call, nodes: readonly Node[], root: string): void {
  const known = new Map(call.callees.map((callee) => [keyOf(callee.frame), callee]))
  for (const { callFrame, self, children } of nodes) {
    const frame = frameOf(callFrame, root)
    if (HARNESS.test(frame.file)) continue
    let callee = known.get(keyOf(frame))
    if (!callee) {
      callee = { frame, self: 0, callees: [] }
      known.set(keyOf(frame), callee)
      call.callees.push(callee)
    }
    callee.self += self
    adopt(callee, children, root)
  }
}

/** Samples or bytes of a call and all it calls. */
export const weightOf = ({ self, callees }: Call): number =>
  callees.reduce((sum, callee) => sum + weightOf(callee), self)

function readNodes(top: Node, root: string, unit: Profile['unit']): Profile {
  const aside = (name: string) =>
    top.children.filter(({ callFrame }) => callFrame.functionName === name).reduce((sum, { self }) => sum + self, 0)
  const working = top.children.filter(({ callFrame }) => !['(idle)', '(program)'].includes(callFrame.functionName))
  const call: Call = { frame: ROOT, self: 0, callees: [] }
  adopt(call, working, root)
  return { unit, root: call, total: weightOf(call), idle: aside('(idle)'), program: aside('(program)') }
}

/** @param root the repository's folder as a path that ends with `/` */
export function readCpuProfile({ nodes }: Pick<Profiler.Profile, 'nodes'>, root: string): Profile {
  const byId = new Map(nodes.map((node) => [node.id, node]))
  const toNode = ({ callFrame, hitCount, children }: Profiler.ProfileNode): Node => ({
    callFrame,
    self: hitCount ?? 0,
    children: (children ?? []).map((id) => toNode(byId.get(id)!)),
  })
  return readNodes(toNode(nodes[0]!), root, 'samples')
}

/** @param root the repository's folder as a path that ends with `/` */
export function readAllocationProfile({ head }: Pick<HeapProfiler.SamplingHeapProfile, 'head'>, root: string): Profile {
  const toNode = ({ callFrame, selfSize, children }: HeapProfiler.SamplingHeapProfileNode): Node => ({
    callFrame,
    self: selfSize,
    children: children.map(toNode),
  })
  return readNodes(toNode(head), root, 'bytes')
}
