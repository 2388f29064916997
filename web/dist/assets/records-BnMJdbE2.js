import{A as e,Ct as t,E as n,j as r,k as i,m as a,p as o,wt as s}from"./shared-DBf66oiQ.js";import{S as c,c as l}from"./protocol-8vkhnn2g.js";import{Dt as u,K as d,Lt as f,Ot as p,Pt as m,Ut as h,Yt as g,bn as _,en as v,in as y,rn as b,xn as x,yn as S}from"./index-DCN7dPgC.js";var C=20;function w({title:e,kind:n}){let{archive:r}=g.value,{entries:i,busy:s,more:c}=a(async e=>{let r=await t.listRatings({kind:n,pageSize:C,pageToken:e});return{entries:r.participants,next:r.nextPageToken}});return h(`section`,{class:`panel`,children:[h(`h2`,{children:[r.ranking,` · `,e]}),i?.length===0&&h(`p`,{class:`muted`,children:r.noRanking}),i&&i.length>0&&h(`table`,{class:`scores`,children:[h(`thead`,{children:h(`tr`,{children:[h(`th`,{scope:`col`,children:r.name}),h(`th`,{scope:`col`,children:r.rating}),h(`th`,{scope:`col`,children:r.deviation}),h(`th`,{scope:`col`,children:r.games})]})}),h(`tbody`,{children:i.map(({rank:e,participant:t,stats:n})=>h(`tr`,{children:[h(`th`,{scope:`row`,children:[e,`. `,h(o,{of:t}),` `,h(`span`,{class:`muted`,children:t?.participant.case===`player`&&t.participant.value.engineVersion})]}),h(`td`,{children:Math.round(n?.rating?.value??0)}),h(`td`,{children:Math.round(2*(n?.rating?.deviation??0))}),h(`td`,{children:n?.rating?.games})]},e))})]}),c&&h(`button`,{type:`button`,disabled:s,onClick:c,children:r.more})]})}var T=`# The usual names of openings, as in Robert Gatliff's list: a name, and the moves from the standard start after which the
# game has it.
Diagonal c4c3
X-Square c4c3d3c5b2
Snake c4c3d3c5b3
Lysons c4c3d3c5b3f3
Pyramid c4c3d3c5b3f4b5b4c6d6f5
Heath c4c3d3c5b4
Mimura Variation II c4c3d3c5b4d2c2f4d6c6f5e6f7
Heath-Bat c4c3d3c5b4d2d6
Iwasaki Variation c4c3d3c5b4d2e2
Heath-Chimney c4c3d3c5b4e3
Raccoon Dog c4c3d3c5b5
Rocket c4c3d3c5b6
Hamilton c4c3d3c5b6c6b5
Lollipop c4c3d3c5b6e3
Cow c4c3d3c5d6
Chimney c4c3d3c5d6e3
Cow Bat c4c3d3c5d6f4b4
Bat (Piau Continuation 2) c4c3d3c5d6f4b4b6b5c6b3
Bat (Piau Continuation 1) c4c3d3c5d6f4b4b6b5c6f5
Bat (Kling Continuation) c4c3d3c5d6f4b4c6b5b3b6e3c2a4a5a6d2
Bat (Kling Alternative) c4c3d3c5d6f4b4e3b3
Rose-v-Toth c4c3d3c5d6f4f5
Tanida c4c3d3c5d6f4f5d2
Aircraft c4c3d3c5d6f4f5d2b5
Sailboat c4c3d3c5d6f4f5d2g4d7
Maruoka c4c3d3c5d6f4f5e6c6d7
Landau c4c3d3c5d6f4f5e6f6
Buffalo c4c3d3c5f6
Maruoka Buffalo c4c3d3c5f6e2c6
Tanida Buffalo c4c3d3c5f6e3c6f5f4g5
Hokuriku Buffalo c4c3d3c5f6f5
Wing Variation c4c3e6c5
Semi-Wing Variation c4c3f5c5
Parallel c4c5
Perpendicular c4e3
Fishhook c4e3f4
Mimura c4e3f4c5d6e6
Shaman c4e3f4c5d6f3c6
Inoue c4e3f4c5d6f3d3
Iago c4e3f4c5d6f3d3c3
Bhagat c4e3f4c5d6f3e2
Rose c4e3f4c5d6f3e6c3d3e2
Flat c4e3f4c5d6f3e6c3d3e2b5
Rotating Flat c4e3f4c5d6f3e6c3d3e2b5f5
Murakami Variation c4e3f4c5d6f3e6c3d3e2b5f5b3
Rotating Flat (Kling Continuation) c4e3f4c5d6f3e6c3d3e2b5f5b4f6c2e7d2c7
Rose-Birth c4e3f4c5d6f3e6c3d3e2b6f5
Brightstein c4e3f4c5d6f3e6c3d3e2b6f5b4f6g5d7
Rose-Birdie c4e3f4c5d6f3e6c3d3e2b6f5g5
Rose-Tamenori-Kling c4e3f4c5d6f3e6c3d3e2b6f5g5f6
Greenberg c4e3f4c5d6f3e6c3d3e2d2
Ralle c4e3f4c5d6f3e6c6
Horse c4e3f4c5e6
Ganglion c4e3f5b4
Swallow c4e3f5b4f3
No-Cat (Continuation) c4e3f5b4f3f4e2e6g5f6d6c6
Italian c4e3f5e6d3
Cat c4e3f5e6f4
Sakaguchi c4e3f5e6f4c5d6c6f7f3
Berner c4e3f5e6f4c5d6c6f7g5g6
Bent Ganglion c4e3f6b4
Tiger c4e3f6e6f5
Stephenson c4e3f6e6f5c5c3
No-Kung c4e3f6e6f5c5c3b4
No-Kung (Continuation) c4e3f6e6f5c5c3b4d6c6b5a6b6c7
Comp'Oth c4e3f6e6f5c5c3c6
F.A.T. Draw c4e3f6e6f5c5c3c6d3d2e2b3c1c2b4a3a5b5a6a4a2
Scorpion c4e3f6e6f5c5c3c6d3d2
Lightning Bolt c4e3f6e6f5c5c3c6d6
Kung c4e3f6e6f5c5c3g5
Leader's Tiger c4e3f6e6f5c5d3
Brightwell c4e3f6e6f5c5d6
Grand Central c4e3f6e6f5c5f4g5
Ishii c4e3f6e6f5c5f4g5g4f3c6d3d6
Mainline Tiger c4e3f6e6f5c5f4g5g4f3c6d3d6b3c3b4e2b6
Rose-Bill c4e3f6e6f5c5f4g6f7
Tamenori c4e3f6e6f5c5f4g6f7d3
Nicolet c4e3f6e6f5c5f4g6f7d6
Central Rose-Bill c4e3f6e6f5c5f4g6f7g5
Aubrey c4e3f6e6f5g6
Aubrey (Feldborg Continuation) c4e3f6e6f5g6e7c5
`.split(`
`).filter(e=>e&&!e.startsWith(`#`)).map(e=>e.slice(0,e.lastIndexOf(` `))).sort((e,t)=>e.localeCompare(t,`en`));function E({name:e,choose:t}){let{archive:n}=g.value,[r,i]=y(``),a=b(``),o=b(null),s=async e=>{a.current=e,i(``);let n=e?await d(()=>m(()=>D(e))):void 0;a.current===e&&(n===`nobody`&&i(e),t(n===`nobody`?void 0:n))};return v(()=>{o.current&&!r&&(o.current.value=e)},[e]),h(`label`,{class:`field`,children:[h(`span`,{children:n.player}),h(`input`,{ref:o,type:`search`,maxLength:24,autoComplete:`off`,placeholder:n.playerName,onChange:e=>void s(e.currentTarget.value.trim())}),r&&h(`span`,{role:`alert`,children:n.nobody(r)})]})}async function D(e){try{return(await t.getPlayerStats({displayName:e})).player}catch(e){if(O.has(f(e).reason))return`nobody`;throw e}}var O=new Set([`PLAYER_NOT_FOUND`,`BAD_NAME`,`BAD_ARGUMENT`]);function k(e){let[t]=y(()=>matchMedia(`(min-width: 40rem)`).matches||_(e.filter)!==``);return h(`details`,{open:t,children:[h(`summary`,{children:g.value.archive.filter}),h(A,{...e})]})}function A({filter:t,change:n}){let{archive:a,create:o,stats:s}=g.value,l=[[c.UNSPECIFIED,a.any],[c.BLACK_WINS,a.blackWins],[c.WHITE_WINS,a.whiteWins],[c.DRAW,a.draw],[c.ABORTED,s.aborted]];return h(`div`,{class:`record-filter`,children:[h(E,{name:t.playerName,choose:e=>n({playerId:e?.playerId??``,playerName:e?.displayName??``})}),h(e,{kind:t.kind,set:e=>n({kind:e})}),h(i,{label:a.result,value:t.result,set:e=>n({result:Number(e)}),children:l.map(([e,t])=>h(`option`,{value:e,children:t}))}),h(i,{label:o.opening,value:t.opening,set:e=>n({opening:e}),children:[h(`option`,{value:``,children:a.any}),T.map(e=>h(`option`,{children:e}))]}),h(r,{minRating:t.minRating,set:e=>n({minRating:e})}),h(j,{label:a.from,value:t.from,set:e=>n({from:e})}),h(j,{label:a.until,value:t.until,set:e=>n({until:e})}),h(`label`,{class:`check`,children:[h(`input`,{type:`checkbox`,checked:t.rated,onChange:e=>n({rated:e.currentTarget.checked})}),h(`span`,{children:a.ratedOnly})]})]})}function j({label:e,value:t,set:n}){return h(`label`,{class:`field`,children:[h(`span`,{children:e}),h(`input`,{type:`date`,value:t,onChange:e=>n(e.currentTarget.value)})]})}var M=50;function N({filter:e}){let{archive:t}=g.value;return h(`div`,{class:`records`,children:[h(`div`,{class:`title-row`,children:[h(`h1`,{children:t.finished}),h(`a`,{class:`button`,href:S({screen:`explore`,moves:``}),children:t.openings})]}),h(`div`,{class:`records-columns`,children:[h(`section`,{class:`panel`,children:[h(`h2`,{children:t.games}),h(k,{filter:e,change:e=>{let t=p.value;t.screen===`records`&&u({screen:`records`,filter:{...t.filter,...e}})}}),h(P,{filter:e},JSON.stringify(e))]}),h(`div`,{class:`stack`,children:[h(`p`,{class:`hint`,children:t.ratingScale}),h(w,{title:g.value.stats.humans,kind:l.HUMAN}),h(w,{title:g.value.stats.bots,kind:l.BOT}),h(w,{title:g.value.stats.ais,kind:l.AI})]})]})]})}function P({filter:e}){let{archive:r,stats:i,connection:o}=g.value,{entries:s,busy:c,more:l}=a(async n=>{let r=await t.listGames({filter:F(e),pageSize:M,pageToken:n});return{entries:r.games,next:r.nextPageToken}});return h(x,{children:[!s&&!l&&h(`p`,{class:`muted`,children:o.loading}),s?.length===0&&h(`p`,{class:`muted`,children:r.noGames}),s&&h(n,{games:s}),l&&h(`button`,{type:`button`,disabled:c,onClick:l,children:i.more})]})}function F({from:e,until:t,rated:n,playerName:r,...i}){return{...i,...n&&{rated:n},...e&&{endedFrom:s(I(e))},...t&&{endedBefore:s(I(t,1))}}}function I(e,t=0){let n=new Date(`${e}T00:00`);return n.setDate(n.getDate()+t),n}export{N as RecordsScreen};