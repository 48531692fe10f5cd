import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { createTemporaryFolder } from '@influencer-stats/runtime/testing/temporary-folder'
import { expect, it, onTestFinished } from 'vitest'
import { startKv } from './support/kv.ts'
import { runShell } from './support/process.ts'

const README = readFileSync(new URL('../README.md', import.meta.url), 'utf8')
const STATED_OUTPUT = /# => (.*)$/

/** Returns the shell blocks of a section, one after another. */
function readScript(title: string): string {
  const from = README.indexOf(`\n## ${title}\n`)
  const section = README.slice(from, README.indexOf('\n## ', from + 1))
  return Array.from(section.matchAll(/^```sh\n(.*?)^```/gms), ([, block]) => block).join('')
}

/** Returns patterns of the output that the comments of a script state. */
const readStatedOutput = (script: string) =>
  script.split('\n').flatMap((line) => {
    const [, text] = STATED_OUTPUT.exec(line) ?? []
    return text === undefined ? [] : [new RegExp(`^${text.split('…').map(RegExp.escape).join('.+')}$`)]
  })

// Without the added newline, a value would share its line with the next output.
const PREAMBLE = `
cd "$FOLDER"
curl() {
  # A stream has no end of its own. On a busy machine, it may not begin within a second.
  case "$*" in
    -N*)
      for seconds in 1 5 20; do
        output=$(command curl -s --max-time $seconds "$@") || [ $? = 28 ]
        case "$output" in *"id: "*) break ;; esac
      done
      echo "$output"
      return
      ;;
  esac
  command curl "$@" || return
  echo
}
npx() { shift 3; case "$*" in *--url*) kv "$@" ;; *) kv "$@" --url "$URL" ;; esac; echo; }
set -e -o pipefail
`

const hasShell = ['bash', 'curl', 'gzip'].every((name) => spawnSync(name, ['--version']).error === undefined)

it.skipIf(!hasShell)('every example of the API prints what the README states', async () => {
  const kv = await startKv()
  onTestFinished(async () => void (await kv.stop()))
  const script = readScript('API')
  const { host } = new URL(kv.url)
  const { stdout, stderr, code } = await runShell(PREAMBLE + script.replaceAll('localhost:8082', host), {
    URL: kv.url,
    FOLDER: createTemporaryFolder(),
  })
  const printed = stdout.toString().replaceAll('\r', '').split('\n').filter(Boolean)
  const stated = readStatedOutput(script)
  expect([code, stderr.replaceAll(/^.*\b(?:ex|im)ported \d+ entries.*\n/gm, '')]).toEqual([0, ''])
  expect(stated.length).toBeGreaterThan(30)
  expect(printed.map((line, i) => (stated[i]?.test(line) ? stated[i] : line))).toEqual(stated)
})
