import { setFlagsFromString } from 'node:v8'

/**
 * Has V8 keep the WebAssembly code that it compiled, for the life of the process. To be called before a thread starts.
 *
 * Threads share that code. V8 13.6 may free a wrapper around an imported function on one thread while another looks it
 * up, and then crashes (SIGSEGV in `NativeModule::FreeCode`, below `Runtime_TierUpWasmToJSWrapper`). Threads that load
 * TypeScript do so, since Node's compiler of it is WebAssembly: one start of some 3,000 died, on a busy machine. What is
 * kept takes about 30 kB a start, and nothing where what was compiled is cached.
 */
export function disableWasmCodeGc(): void {
  setFlagsFromString('--no-wasm-code-gc')
}
