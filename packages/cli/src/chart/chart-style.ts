/** Styles inside a drawing. A page can set the colors anew. */
export const chartStyle = `
.statechart {
  --back: #f7f8fa; --box: #ffffff; --group: #f1f3f7; --edge: #c3cad6; --ink: #171a21; --dim: #5a6372; --wire: #8a94a5;
  --event: #e6ebfb; --event-edge: #b9c6f2; --event-ink: #2443ad; --lit: #2c53d6; --lit-back: #e9eefe;
  font-family: system-ui, -apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', Arial, sans-serif;
}
@media (prefers-color-scheme: dark) {
  .statechart {
    --back: #0f1216; --box: #1a1e26; --group: #151920; --edge: #3a4250; --ink: #e7eaf0; --dim: #a2acbb; --wire: #7b8698;
    --event: #222d4f; --event-edge: #3b4d86; --event-ink: #b9c9ff; --lit: #8ba8ff; --lit-back: #1c2750;
  }
}
.statechart .back { fill: var(--back); }
.statechart .state > rect { fill: var(--box); stroke: var(--edge); stroke-width: 1.5; }
.statechart .state.group > rect { fill: var(--group); }
.statechart .state.region > rect { stroke-dasharray: 5 4; }
.statechart .state .rule { stroke: var(--edge); }
.statechart .state .inner { fill: none; stroke-width: 1; }
.statechart .state.history > circle { fill: var(--box); stroke: var(--edge); stroke-width: 1.5; }
.statechart .state.active > rect, .statechart .state.active > circle { stroke: var(--lit); stroke-width: 2.5; }
.statechart .state.active:not(.group) > rect { fill: var(--lit-back); }
.statechart .name { font-size: 15px; font-weight: 600; fill: var(--ink); }
.statechart .activity { font-size: 14px; fill: var(--dim); }
.statechart .mark { fill: var(--dim); }
.statechart .line { fill: none; stroke: var(--wire); stroke-width: 1.5; }
.statechart .tip, .statechart .start { fill: var(--wire); }
.statechart .label > rect { fill: var(--event); stroke: var(--event-edge); }
.statechart .label > text { font-size: 14px; fill: var(--event-ink); text-anchor: middle; }
.statechart .label.quiet > rect { fill: var(--box); stroke: var(--edge); }
.statechart .label.quiet > text { fill: var(--dim); }
.statechart .line.active { stroke: var(--lit); }
.statechart .tip.active { fill: var(--lit); }
`;
