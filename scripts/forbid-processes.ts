import childProcess from 'node:child_process'
import dgram from 'node:dgram'
import { syncBuiltinESMExports } from 'node:module'
import { Server, Socket } from 'node:net'
import threads from 'node:worker_threads'
import { afterEach } from 'vitest'

// Tests of the tier `unit` start no processes and threads, and open no sockets.

const used = new Set<string>()

function forbid(holder: object, names: readonly string[], what: string): void {
  for (const name of names)
    Object.defineProperty(holder, name, {
      configurable: true,
      writable: true,
      // A constructor as well: `new Worker()`.
      value: function forbidden() {
        used.add(what)
        throw new Error(`A unit test must not ${what} (${name}): name its file *.process.test.ts`)
      },
    })
}

forbid(childProcess, ['exec', 'execFile', 'execFileSync', 'execSync', 'fork', 'spawn', 'spawnSync'], 'start a process')
forbid(threads, ['Worker'], 'start a thread')
forbid(Server.prototype, ['listen'], 'listen on a port')
forbid(Socket.prototype, ['connect'], 'connect to a port')
forbid(dgram.Socket.prototype, ['bind'], 'listen on a port')
syncBuiltinESMExports()

// Code under test may catch the error.
afterEach(() => {
  const found = [...used]
  used.clear()
  if (found.length > 0) throw new Error(`A unit test must not ${found.join(' or ')}: name its file *.process.test.ts`)
})
