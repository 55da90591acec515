%% SPDX-License-Identifier: ISC
%% Copyright (c) 2026 The libxtc authors
%%
%% Erlang: processes with mailboxes. A lock is a process that grants it, as
%% such programs have it. Started by run.py:
%%
%%	erl -noshell +P 2000000 -pa DIR -run xtc_peer main ROW COUNT SIZE
%%
%% with +S 1 for the rows of one loop.
-module(xtc_peer).
-export([main/1]).

-define(BATCHES, 100).
-define(SENDERS, 8).

rows() ->
    [{"yield", fun yield/1, 1000000, 2},
     {"spawn_process", fun spawn_process/1, 300000, 0},
     {"pingpong", fun pingpong/1, 500000, 0},
     {"pingpong_threads", fun pingpong_threads/1, 100000, 0},
     {"fanin", fun fanin/1, 1000000, 0},
     {"fanin_threads", fun fanin_threads/1, 1000000, 0},
     {"ring", fun ring/1, 500000, 1000},
     {"mutex", fun mutex/1, 300000, 0},
     {"mutex_handoff", fun mutex_handoff/1, 300000, 8},
     {"timer", fun timer/1, 300000, 100000},
     {"sleepers", fun sleepers/1, 1, 100000},
     {"parked", fun parked/1, 1, 1000000}].

main(["rows"]) ->
    [io:format("~s ~b ~b~n", [N, C, S]) || {N, _, C, S} <- rows()],
    halt(0);
main([Name | Numbers]) ->
    {Name, Fn, Count, Size} = lists:keyfind(Name, 1, rows()),
    case [list_to_integer(N) || N <- Numbers] of
        [] -> Fn({Name, Count, Size});
        [C] -> Fn({Name, C, Size});
        [C, S] -> Fn({Name, C, S})
    end,
    halt(0).

now_ns() ->
    erlang:monotonic_time(nanosecond).

batch({_, Count, _}) when Count < ?BATCHES -> 1;
batch({_, Count, _}) -> Count div ?BATCHES.

print({Name, _, _}, Metric, Value) ->
    io:format("~s ~s ~.3f~n", [Name, Metric, float(Value)]).

%% The best of so many batches, each of N operations.
best(Batches, N, Fn) ->
    lists:min([begin
                   T = now_ns(),
                   Fn(),
                   (now_ns() - T) / N
               end || _ <- lists:seq(1, Batches)]).

measure(P, N, Fn) ->
    print(P, "ns", best(?BATCHES, N, Fn)).

times(0, _) -> ok;
times(N, Fn) -> Fn(), times(N - 1, Fn).

yields(0) -> ok;
yields(N) -> erlang:yield(), yields(N - 1).

yield({_, _, Size} = P) ->
    N = batch(P) div Size + 1,
    Others = [spawn_monitor(fun() -> yields(N * ?BATCHES) end) ||
              _ <- lists:seq(2, Size)],
    measure(P, N * Size, fun() -> yields(N) end),
    [receive {'DOWN', Ref, _, _, _} -> ok end || {_, Ref} <- Others].

spawn_process(P) ->
    Self = self(),
    N = batch(P),
    Child = fun() -> Self ! done end,
    measure(P, N, fun() ->
        times(N, fun() -> spawn(Child), receive done -> ok end end) end).

status_bytes(Name) ->
    {ok, Text} = file:read_file("/proc/self/status"),
    {match, [Kib]} = re:run(Text, Name ++ ":\\s+(\\d+)",
                            [{capture, [1], list}]),
    list_to_integer(Kib) * 1024.

cpu_ns() ->
    {Ms, _} = erlang:statistics(runtime),
    Ms * 1000000.

spawn_parked(0, _) -> ok;
spawn_parked(N, Fn) -> spawn(Fn), spawn_parked(N - 1, Fn).

parked({_, _, Size} = P) ->
    Self = self(),
    Fn = fun() -> receive never -> Self ! ok end end,
    Rss = status_bytes("VmRSS"),
    Tables = status_bytes("VmPTE"),
    T = cpu_ns(),
    spawn_parked(Size, Fn),
    yields(1000),
    print(P, "create_ns", (cpu_ns() - T) / Size),
    print(P, "resident_bytes", (status_bytes("VmRSS") - Rss) / Size),
    print(P, "tables_bytes", (status_bytes("VmPTE") - Tables) / Size).

pong() ->
    receive
        {From, Left} -> From ! {pong, Left}, pong();
        stop -> ok
    end.

ping(Pong) ->
    Pong ! {self(), 1},
    receive {pong, _} -> ok end.

pingpong(P) ->
    N = batch(P) div 2 + 1,
    Pong = spawn(fun pong/0),
    measure(P, 2 * N, fun() -> times(N, fun() -> ping(Pong) end) end),
    Pong ! stop.

%% Bound to two schedulers.
pingpong_threads(P) ->
    Self = self(),
    N = batch(P) div 2 + 1,
    Pong = spawn_opt(fun pong/0, [{scheduler, 2}]),
    spawn_opt(fun() ->
        measure(P, 2 * N, fun() -> times(N, fun() -> ping(Pong) end) end),
        Self ! done
    end, [{scheduler, 1}]),
    receive done -> Pong ! stop end.

%% There is no bound on a mailbox, so the receiver says when to go on.
sender(_, 0) -> ok;
sender(To, N) ->
    M = min(N, 500),
    times(M, fun() -> To ! {self(), 1} end),
    To ! {self(), more},
    receive go_on -> sender(To, N - M) end.

take(0) -> ok;
take(N) ->
    receive
        {From, more} -> From ! go_on, take(N);
        {_, _} -> take(N - 1)
    end.

fanin_with({_, Count, _} = P, Batches, Receiver, Sender) ->
    Self = self(),
    Each = (Count div ?SENDERS div ?BATCHES + 1) * ?BATCHES,
    N = Each * ?SENDERS div Batches,
    To = spawn_opt(fun() ->
        Ns = best(Batches, N, fun() -> take(N) end),
        print(P, "million_per_s", 1.0e3 / Ns),
        Self ! done
    end, Receiver),
    [spawn_opt(fun() -> sender(To, Each) end, Sender) ||
     _ <- lists:seq(1, ?SENDERS)],
    receive done -> ok end.

fanin(P) ->
    fanin_with(P, ?BATCHES, [], []).

%% In one batch: what is sent in one may be received in the next.
fanin_threads(P) ->
    fanin_with(P, 1, [{scheduler, 1}], [{scheduler, 2}]).

hop(Next) ->
    receive M -> Next ! M, hop(Next) end.

ring({_, _, Size} = P) ->
    N = batch(P) div Size + 1,
    First = lists:foldl(fun(_, Next) -> spawn(fun() -> hop(Next) end) end,
                        self(), lists:seq(2, Size)),
    measure(P, N * Size, fun() ->
        times(N, fun() -> First ! {token, 1}, receive {token, _} -> ok end
        end) end).

lock_server() ->
    receive
        {lock, From} ->
            From ! locked,
            receive {unlock, From} -> lock_server() end;
        stop -> ok
    end.

lock(Server) ->
    Server ! {lock, self()},
    receive locked -> ok end.

unlock(Server) ->
    Server ! {unlock, self()}.

mutex(P) ->
    Server = spawn(fun lock_server/0),
    N = batch(P),
    measure(P, N, fun() ->
        times(N, fun() -> lock(Server), unlock(Server) end) end),
    Server ! stop.

mutex_handoff({_, _, Size} = P) ->
    Server = spawn(fun lock_server/0),
    N = batch(P) div Size + 1,
    Round = fun() -> lock(Server), erlang:yield(), unlock(Server) end,
    [spawn(fun() -> times(N * ?BATCHES, Round) end) ||
     _ <- lists:seq(2, Size)],
    measure(P, N * Size, fun() -> times(N, Round) end).

delay_ms() ->
    60000 + rand:uniform(7140000).

timer({_, _, Size} = P) ->
    times(Size, fun() -> erlang:start_timer(delay_ms(), self(), x) end),
    N = batch(P),
    measure(P, N, fun() ->
        times(N, fun() ->
            erlang:cancel_timer(erlang:start_timer(delay_ms(), self(), x))
        end) end).

%% Timeouts have whole milliseconds: late by what was asked for.
sleeper(Ms, To) ->
    T = now_ns(),
    receive never -> ok after Ms -> To ! {late, now_ns() - T - Ms * 1000000}
    end.

sleepers({_, _, Size} = P) ->
    Self = self(),
    Ms = fun() -> 500 + rand:uniform(1000) end,
    times(Size, fun() -> M = Ms(), spawn(fun() -> sleeper(M, Self) end) end),
    Late = lists:sort([receive {late, L} -> L end ||
                       _ <- lists:seq(1, Size)]),
    print(P, "p50_us", lists:nth(Size div 2 + 1, Late) / 1000),
    print(P, "p99_us", lists:nth(Size - Size div 100, Late) / 1000).
