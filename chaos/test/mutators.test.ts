import { expect, it } from 'vitest'
import { createMutations } from '../src/mutations/mutators.ts'

const changes = (source: string) => createMutations('a.ts', source).map(({ after }) => after)

it('changes one place at a time', () => {
  expect(changes('if (a && b === 1) go()')).toEqual(
    expect.arrayContaining(['if (a || b === 1) go()', 'if (a && b !== 1) go()', 'if (!(a && b === 1)) go()']),
  )
})

it('removes a call whose result is unused', () => {
  expect(changes('function f() {\n  await go(1)\n}')).toEqual([';'])
})

it('does not change comments, texts, imports and types', () => {
  const lines = ['// a && b', ' * a < b', "import { a } from 'true'", 'export type A = true', "const text = 'a && b'"]
  expect(changes(lines.join('\n').replace(' * a < b', '/* a */'))).toEqual([])
})

it('creates only valid programs', () => {
  for (const { text } of createMutations('a.ts', 'const a = b ?? c\nfor (let i = 0; i < a; i++) a += i'))
    expect(text).not.toContain('b && && c')
})
