import { hasExited } from '@influencer-stats/runtime/async/has-exited'
import { waitUntil } from '@influencer-stats/runtime/testing/wait-until'
import { spawn, spawnSync, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { ROOT } from './commands.ts'

/** A machine of its own for a test: systemd is process 1, and its loopback interface is its only network. */
export interface Machine {
  /** Runs commands of bash as root in the folder of the checkout. Rejects with all output if one fails. @returns their stdout */
  run(commands: string): Promise<string>
}

/** Path of the checkout on the machine, as docs/deploy.md has it. */
export const CHECKOUT = '/opt/influencer-stats'

/**
 * The root file system of the machine: that of this machine, or a folder in DEBIAN_ROOT, which has a checkout. The test
 * writes into a layer above it, in memory. The layer and its mounts disappear with their namespace.
 */
const BOOT = `set -e
mount -t tmpfs tmpfs /mnt
mkdir /mnt/upper /mnt/work /mnt/root
mount -t overlay overlay -o "lowerdir=$LOWER,upperdir=/mnt/upper,workdir=/mnt/work" /mnt/root
mkdir -p /mnt/root${CHECKOUT}
exec systemd-nspawn --quiet --directory /mnt/root --boot --register=no --keep-unit --machine "$NAME" --private-network \
  --resolv-conf=off $BIND --console=pipe systemd.unit=basic.target systemd.mask=systemd-networkd-wait-online.service`

/** Why there is no machine here; undefined if there is one. */
export function findObstacle(): string | undefined {
  if (process.platform !== 'linux' || process.getuid?.() !== 0) return 'needs Linux and root'
  const { status, error } = spawnSync('unshare', ['--mount', 'systemd-nspawn', '--version'])
  return status === 0 && !error ? undefined : 'needs systemd-nspawn (package systemd-container)'
}

/** The first child process of a process; undefined if it has none. */
const childOf = (pid: number) =>
  Number(readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ')[0]) || undefined

/**
 * Boots a machine.
 * @returns the machine, and a function that ends it
 * @throws Error with the console's output
 */
export async function bootMachine(): Promise<Machine & { stop(): Promise<void> }> {
  const lower = process.env.DEBIAN_ROOT ?? '/'
  const name = `test-${process.pid}`
  const bind = process.env.DEBIAN_ROOT ? '' : `--bind-ro=${ROOT}:${CHECKOUT}`
  // Ends with the test, also if that is killed.
  const env = { ...process.env, LOWER: lower, NAME: name, BIND: bind }
  const nspawn = spawn('setpriv', ['--pdeathsig', 'KILL', 'unshare', '--mount', 'bash', '-c', BOOT], {
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let console = ''
  for (const stream of [nspawn.stdout, nspawn.stderr]) stream.on('data', (text) => (console += text))
  let leader: number | undefined
  const stop = async () => {
    const ended = hasExited(nspawn) ? undefined : once(nspawn, 'exit')
    nspawn.kill('SIGTERM')
    if (leader) process.kill(leader, 'SIGKILL')
    await ended
  }

  function run(commands: string): Promise<string> {
    const spaces = ['--target', String(leader), '--mount', '--uts', '--ipc', '--net', '--pid']
    const path = 'PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin'
    const clean = ['env', '-i', 'HOME=/root', 'LANG=C.UTF-8', path]
    const shell = ['bash', '-c', `cd ${CHECKOUT} 2> /dev/null\nset -e\n${commands}`]
    return collect(spawn('nsenter', [...spaces, ...clean, ...shell], { stdio: ['ignore', 'pipe', 'pipe'] }), commands)
  }

  try {
    await waitUntil(async () => {
      if (hasExited(nspawn)) throw new Error(console)
      leader = childOf(nspawn.pid!)
      // Before it is nspawn, the process starts the programs that prepare the root.
      if (!leader || readFileSync(`/proc/${leader}/comm`, 'latin1').trim() !== 'systemd') return false
      return run('systemctl is-active basic.target').catch(() => false)
    })
  } catch (error) {
    await stop()
    throw new Error(`the machine did not boot: ${console}`, { cause: error })
  }
  return { run, stop }
}

async function collect(child: ChildProcess, commands: string): Promise<string> {
  let [output, errors] = ['', '']
  child.stdout!.setEncoding('utf8').on('data', (text) => (output += text))
  child.stderr!.setEncoding('utf8').on('data', (text) => (errors += text))
  const [code] = await once(child, 'close')
  if (code !== 0) throw new Error(`exit ${code}: ${commands}\n${output}${errors}`)
  return output
}
