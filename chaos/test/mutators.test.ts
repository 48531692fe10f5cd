import { expect, it } from 'vitest'
import { createMutations } from '../src/mutations/mutators.ts'

const changes = (source: string) => createMutations('a.ts', source).map(({ after }) => after)

it('changes one place at a time', () => {
  expect(changes('if (a && b === 1) go()')).toEqual(
    expect.arrayContaining(['if (a || b === 1) go()', 'if (a && b !== 1) go()', 'if (!(a && b === 1)) go()']),
  )
})

it('leaves out a call whose result nobody takes', () => {
  expect(changes('function f() {\n  await go(1)\n}')).toEqual([';'])
})

it('leaves comments, texts, imports and types alone', () => {
  const lines = ['// a && b', ' * a < b', "import { a } from 'true'", 'export type A = true', "const text = 'a && b'"]
  expect(changes(lines.join('\n').replace(' * a < b', '/* a */'))).toEqual([])
})

it('gives programs only', () => {
  for (const { text } of createMutations('a.ts', 'const a = b ?? c\nfor (let i = 0; i < a; i++) a += i'))
    expect(text).not.toContain('b && && c')
})
