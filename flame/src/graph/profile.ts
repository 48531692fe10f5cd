import type { HeapProfiler, Profiler } from 'node:inspector'
import { toFrame, getKey, type CallFrame, type StackFrame } from './frames.ts'

/** A function with its call stack. */
export interface ProfileCall {
  readonly frame: StackFrame
  /** Samples or bytes in the function itself. */
  self: number
  readonly callees: ProfileCall[]
}

/** The work of a thread during a recording. */
export interface Profile {
  readonly unit: 'samples' | 'bytes'
  /** Root of the tree of calls. */
  readonly root: ProfileCall
  /** Weight of the root, which is 100 percent. */
  readonly total: number
  /** Samples without work. */
  readonly idle: number
  /** Samples in native code without JavaScript on the stack: the event loop, the HTTP parser, reads of sockets. */
  readonly program: number
}

const ROOT_FRAME: StackFrame = { name: 'all', file: '', line: 0, category: 'native' }
// The work of this project's profiling code in the profiled threads does not count.
const HARNESS_FILES = /^(?:flame|bench)\/src\//

interface ProfileNode {
  readonly callFrame: CallFrame
  readonly self: number
  readonly children: readonly ProfileNode[]
}

/** Adds the callees of a V8 node to `call`. Callees of the same function are merged. */
function addCallees(call: ProfileCall, nodes: readonly ProfileNode[], root: string): void {
  const known = new Map(call.callees.map((callee) => [getKey(callee.frame), callee]))
  for (const { callFrame, self, children } of nodes) {
    const frame = toFrame(callFrame, root)
    if (HARNESS_FILES.test(frame.file)) continue
    let callee = known.get(getKey(frame))
    if (!callee) {
      callee = { frame, self: 0, callees: [] }
      known.set(getKey(frame), callee)
      call.callees.push(callee)
    }
    callee.self += self
    addCallees(callee, children, root)
  }
}

/** Returns the samples or bytes of a call and all its callees. */
export const getWeight = ({ self, callees }: ProfileCall): number =>
  callees.reduce((sum, callee) => sum + getWeight(callee), self)

function readNodes(top: ProfileNode, root: string, unit: Profile['unit']): Profile {
  const sumSelf = (name: string) =>
    top.children.filter(({ callFrame }) => callFrame.functionName === name).reduce((sum, { self }) => sum + self, 0)
  const working = top.children.filter(({ callFrame }) => !['(idle)', '(program)'].includes(callFrame.functionName))
  const call: ProfileCall = { frame: ROOT_FRAME, self: 0, callees: [] }
  addCallees(call, working, root)
  return { unit, root: call, total: getWeight(call), idle: sumSelf('(idle)'), program: sumSelf('(program)') }
}

/** @param root the repository's folder as a path that ends with `/` */
export function readCpuProfile({ nodes }: Pick<Profiler.Profile, 'nodes'>, root: string): Profile {
  const byId = new Map(nodes.map((node) => [node.id, node]))
  const toNode = ({ callFrame, hitCount, children }: Profiler.ProfileNode): ProfileNode => ({
    callFrame,
    self: hitCount ?? 0,
    children: (children ?? []).map((id) => toNode(byId.get(id)!)),
  })
  return readNodes(toNode(nodes[0]!), root, 'samples')
}

/** @param root the repository's folder as a path that ends with `/` */
export function readAllocationProfile({ head }: Pick<HeapProfiler.SamplingHeapProfile, 'head'>, root: string): Profile {
  const toNode = ({ callFrame, selfSize, children }: HeapProfiler.SamplingHeapProfileNode): ProfileNode => ({
    callFrame,
    self: selfSize,
    children: children.map(toNode),
  })
  return readNodes(toNode(head), root, 'bytes')
}
