import { performance } from 'node:perf_hooks';

/** Times requests that follow each other. */
export class Stopwatch {
  /** Milliseconds on the clock of each request. */
  readonly latencies: number[] = [];

  /** Sends a request, and notes the time until its response has arrived. */
  async time<T>(request: () => Promise<T>): Promise<T> {
    const start = performance.now();
    const response = await request();
    this.latencies.push(performance.now() - start);
    return response;
  }
}
