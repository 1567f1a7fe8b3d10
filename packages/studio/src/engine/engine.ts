import type { Reply, Request, Results, Run } from '../model/messages.ts';
import type { Code } from '../model/session.ts';
import { explore, playCase } from './explore.ts';
import { SessionPlayer } from './play.ts';
import type { Evaluate, Playground } from './playground.ts';
import { upgrade } from './upgrade.ts';

/** Answers the requests of a page. */
export class Engine {
  readonly #evaluate: Evaluate;
  /** The newest run. A lens of one of its tokens needs no new run. */
  #newest: { readonly key: string; readonly player: SessionPlayer } | undefined;

  readonly #repeats: 'accept' | 'refuse';

  /** @param repeats - `refuse`: a lens or a recording of an older run does not run its code again */
  constructor(evaluate: Evaluate, repeats: 'accept' | 'refuse' = 'accept') {
    this.#repeats = repeats;
    this.#evaluate = evaluate;
  }

  async handle(request: Request, reply: (message: Reply) => void): Promise<void> {
    if (request.type === 'explore') return await explore(async () => await this.#one(request.code), reply);
    reply({ type: 'result', result: await this.#resultOf(request) });
  }

  async #resultOf(request: Exclude<Request, { type: 'explore' }>): Promise<Results[keyof Results]> {
    if (request.type === 'case') return await playCase(await this.#one(request.code), request.cell);
    if (request.type === 'upgrade') {
      const [old, next] = (await this.#evaluate(request.code, request.next)) as [Playground, Playground];
      return await upgrade(old, next, request.session);
    }
    if (request.type === 'play') this.#newest = undefined;
    const player = await this.#playerOf(request, this.#repeats === 'accept' || request.type === 'play');
    if (request.type === 'play') return player.lanes;
    if (request.type === 'record') return player.recording(request.lane);
    return await player[request.type](request.lane, request.point);
  }

  async #one(code: Code): Promise<Playground> {
    return (await this.#evaluate(code))[0] as Playground;
  }

  async #playerOf({ code, session }: Run, mayRun: boolean): Promise<SessionPlayer> {
    const key = JSON.stringify([code, session]);
    if (this.#newest?.key === key) return this.#newest.player;
    if (!mayRun) throw new Error('The engine no longer has this run. Start it again.');
    const player = new SessionPlayer(await this.#one(code), session);
    await player.play();
    this.#newest = { key, player };
    return player;
  }
}
