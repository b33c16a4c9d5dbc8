//! The campus as a mixed-integer program that never costs more than the engine charges.
//!
//! Power is counted in the pack's largest power, stored energy in that power over one turn, money
//! in usd per MWh of IT demand. The program is looser than the engine in two points, and is
//! tightened there where a plan profits from it: the square of the import that a price slope brings
//! is held up by tangents, and charging and discharging on the same turn (which wastes energy, and
//! so pays at negative prices only) is not ruled out at first.

use std::panic::{AssertUnwindSafe, catch_unwind};

use microlp::{
    ComparisonOp, OptimizationDirection, Problem, Solution, SolveOptions, SolveOutcome, TerminationReason,
    Variable,
};

use super::HindsightError;
use super::facts::{Facts, TurnFacts};

/// Tangents of a turn before the first solve, beside the one at 0.
const FIRST_TANGENTS: u32 = 8;

/// What is below this part of the largest power is rounding of the solver.
pub(super) const NOISE: f64 = 1e-7;

/// What a plan does on one turn.
#[derive(Debug, Clone, Copy)]
pub(super) struct Move {
    pub(super) curtail_mw: f64,
    pub(super) discharge_mw: f64,
    pub(super) charge_mw: f64,
    pub(super) diesel_mw: f64,
    /// Relief that the plan counts on.
    pub(super) relief_mw: f64,
}

/// An optimum of the program as it stands.
pub(super) struct Plan {
    /// No schedule costs less.
    pub(super) bound_usd_per_mwh: f64,
    pub(super) moves: Vec<Move>,
    /// Nodes it took to prove.
    pub(super) nodes: u64,
}

pub(super) struct Model<'f> {
    facts: &'f Facts,
    relief_share: f64,
    /// MW per unit of power.
    unit_mw: f64,
    /// Usd per MWh of IT demand for a unit of power over one turn at 1 usd per MWh.
    weight: f64,
    /// The part of the cost that no move changes.
    constant: f64,
    problem: Problem,
    turns: Vec<Turn>,
}

/// The variables of one turn.
struct Turn {
    demand: f64,
    charge_max: f64,
    discharge_max: f64,
    curtail: Variable,
    discharge: Variable,
    charge: Variable,
    diesel: Variable,
    /// Relief delivered, where some of it may be withheld.
    relief: Option<Variable>,
    /// Square of the import, where the price has a slope.
    square: Option<Variable>,
    /// Imports at which the square is held up; 0 is one, as it is never negative.
    tangents: Vec<f64>,
    /// Whether charging and discharging rule each other out.
    exclusive: bool,
}

/// A part of the reduction and its largest size.
#[derive(Clone, Copy)]
struct Part {
    variable: Variable,
    max: f64,
}

type Term = (Variable, f64);

impl<'f> Model<'f> {
    /// The program for one way to answer the appeals and one least relief share.
    pub(super) fn new(facts: &'f Facts, credit_usd_per_mwh: &[f64], relief_share: f64) -> Self {
        let unit_mw = facts.largest_power_mw();
        let mut model = Self {
            facts,
            relief_share,
            unit_mw,
            weight: facts.hours_per_turn * unit_mw / facts.demand_mwh,
            constant: 0.0,
            problem: Problem::new(OptimizationDirection::Minimize),
            turns: Vec::with_capacity(facts.turns.len()),
        };
        for (turn, &credit) in facts.turns.iter().zip(credit_usd_per_mwh) {
            model.add_turn(turn, credit);
        }
        model.link_battery();
        model.limit_generator();
        model.demand_relief();
        model
    }

    fn variable(&mut self, usd_per_mwh: f64, max: f64) -> Variable {
        self.problem.add_var(usd_per_mwh * self.weight, (0.0, max))
    }

    fn at_most(&mut self, terms: &[Term], limit: f64) {
        self.problem.add_constraint(terms, ComparisonOp::Le, limit);
    }

    /// At most its size if `condition`, else nothing.
    fn only_if(&mut self, part: Part, condition: Variable) {
        self.at_most(&[(part.variable, 1.0), (condition, -part.max)], 0.0);
    }

    fn add_turn(&mut self, facts: &TurnFacts, credit: f64) {
        let unit = self.unit_mw;
        let slope = facts.slope_usd_per_mwh_per_mw;
        // import * (price + slope * (import - demand)) = import * flat + slope * import²
        let flat = facts.price_usd_per_mwh - slope * facts.demand_mw;
        let demand = facts.demand_mw / unit;
        let (charge_max, discharge_max) = (facts.charge_max_mw / unit, facts.discharge_max_mw / unit);
        let import_max = demand + charge_max;
        self.constant += flat * demand * self.weight;
        let mut turn = Turn {
            demand,
            charge_max,
            discharge_max,
            curtail: self.variable(self.facts.sla_usd_per_mwh - flat, demand),
            discharge: self.variable(-flat, discharge_max),
            charge: self.variable(flat, charge_max),
            diesel: self.variable(self.facts.fuel_usd_per_mwh - flat, facts.diesel_max_mw / unit),
            relief: None,
            square: (slope > 0.0).then(|| self.variable(slope * unit, import_max * import_max)),
            tangents: vec![0.0],
            exclusive: false,
        };
        // Nothing is exported.
        self.at_most(&[(turn.curtail, 1.0), (turn.discharge, 1.0), (turn.diesel, 1.0)], demand);
        for i in 1..=FIRST_TANGENTS {
            self.add_tangent(&mut turn, import_max * f64::from(i) / f64::from(FIRST_TANGENTS));
        }
        turn.relief = self.split_reduction(&turn, facts.asked_mw / unit, credit);
        self.turns.push(turn);
    }

    /// The square of the import lies above its tangent at the import `at`.
    fn add_tangent(&mut self, turn: &mut Turn, at: f64) {
        let Some(square) = turn.square else { return };
        turn.tangents.push(at);
        let slope = 2.0 * at;
        // slope * (demand - curtail - discharge - diesel + charge) - at² <= square
        let terms = [
            (square, -1.0),
            (turn.curtail, -slope),
            (turn.discharge, -slope),
            (turn.diesel, -slope),
            (turn.charge, slope),
        ];
        self.at_most(&terms, at * at - slope * turn.demand);
    }

    /// Cuts the reduction (demand less import; negative while charging) into relief and what lies
    /// beyond and below it, where an order or an appeal makes them differ in worth. Returns the
    /// relief where some of it may be withheld.
    ///
    /// Each part is used only once the one below it is used up. Where the part above is worth more
    /// than the one below, the program would rather not, and a binary makes it.
    fn split_reduction(&mut self, turn: &Turn, asked: f64, credit: f64) -> Option<Variable> {
        let counts = self.relief_share > 0.0 && asked > 0.0;
        if turn.demand == 0.0 || (!counts && credit == 0.0) {
            return None;
        }
        let beyond = Part { max: turn.demand - asked, variable: self.variable(-credit, turn.demand - asked) };
        if counts && self.relief_share >= 1.0 {
            self.reduction_is(turn, asked, &[(beyond.variable, 1.0)]);
            return None;
        }
        let wanted = credit > 0.0 && beyond.max > 0.0;
        if !counts {
            let below = self.add_below(turn, asked, wanted.then_some(beyond));
            self.reduction_is(turn, asked, &[(beyond.variable, 1.0), (below, -1.0)]);
            return None;
        }
        let relief = Part { max: asked, variable: self.variable(0.0, asked) };
        if wanted {
            let met = self.problem.add_binary_var(0.0);
            self.only_if(beyond, met);
            self.at_most(&[(met, asked), (relief.variable, -1.0)], 0.0);
        }
        let below = self.add_below(turn, 0.0, Some(relief));
        self.reduction_is(turn, 0.0, &[(relief.variable, 1.0), (beyond.variable, 1.0), (below, -1.0)]);
        Some(relief.variable)
    }

    /// What the reduction lacks to `level`; while it lacks any, the part `above` is nothing.
    fn add_below(&mut self, turn: &Turn, level: f64, above: Option<Part>) -> Variable {
        let max = level + turn.charge_max;
        let below = self.variable(0.0, max);
        let Some(above) = above.filter(|_| max > 0.0) else { return below };
        let reached = self.problem.add_binary_var(0.0);
        self.only_if(above, reached);
        self.at_most(&[(below, 1.0), (reached, max)], max);
        // True of every schedule, and much tighter while `reached` is a fraction: the reduction is
        // negative by no more than the charge, and where it is, the battery does not discharge.
        self.at_most(&[(below, 1.0), (reached, level), (turn.charge, -1.0)], level);
        if level == 0.0 {
            self.only_if(Part { variable: turn.discharge, max: turn.discharge_max }, reached);
        }
        below
    }

    /// The reduction is `level` plus `parts`.
    fn reduction_is(&mut self, turn: &Turn, level: f64, parts: &[Term]) {
        let mut terms =
            vec![(turn.curtail, 1.0), (turn.discharge, 1.0), (turn.diesel, 1.0), (turn.charge, -1.0)];
        terms.extend(parts.iter().map(|&(part, sign)| (part, -sign)));
        self.problem.add_constraint(terms, ComparisonOp::Eq, level);
    }

    /// State of charge from turn to turn. What a turn gives and takes is limited by what the battery
    /// holds before it, as in the engine.
    fn link_battery(&mut self) {
        let unit_mwh = self.facts.hours_per_turn * self.unit_mw;
        let capacity = self.facts.capacity_mwh / unit_mwh;
        let initial = self.facts.initial_soc_mwh / unit_mwh;
        let efficiency = self.facts.efficiency;
        let mut before = self.problem.add_var(0.0, (initial, initial));
        for t in 0..self.turns.len() {
            let (charge, discharge) = (self.turns[t].charge, self.turns[t].discharge);
            let after = self.problem.add_var(0.0, (0.0, capacity));
            let flow = [(after, 1.0), (before, -1.0), (charge, -efficiency), (discharge, 1.0)];
            self.problem.add_constraint(flow, ComparisonOp::Eq, 0.0);
            self.at_most(&[(discharge, 1.0), (before, -1.0)], 0.0);
            self.at_most(&[(charge, efficiency), (before, 1.0)], capacity);
            before = after;
        }
    }

    /// Any output uses up a whole turn of the permit.
    fn limit_generator(&mut self) {
        let maxima = self.facts.turns.iter().map(|turn| turn.diesel_max_mw / self.unit_mw);
        let parts = self.turns.iter().zip(maxima).map(|(turn, max)| Part { variable: turn.diesel, max });
        let usable: Vec<Part> = parts.filter(|part| part.max > 0.0).collect();
        if usable.len() <= self.facts.generator_turns {
            return;
        }
        let mut running: Vec<Term> = Vec::with_capacity(usable.len());
        for part in usable {
            let runs = self.problem.add_binary_var(0.0);
            self.only_if(part, runs);
            running.push((runs, 1.0));
        }
        self.at_most(&running, self.facts.generator_turns as f64);
    }

    fn demand_relief(&mut self) {
        let share_of_unit = self.facts.hours_per_turn * self.unit_mw / self.facts.asked_mwh;
        let terms = self.turns.iter().filter_map(|turn| Some((turn.relief?, share_of_unit)));
        let terms: Vec<Term> = terms.collect();
        if !terms.is_empty() {
            self.problem.add_constraint(terms, ComparisonOp::Ge, self.relief_share);
        }
    }

    /// Solves the program as it stands, within `nodes_max` nodes.
    pub(super) fn solve(&self, nodes_max: u64) -> Result<Plan, HindsightError> {
        let mut options = SolveOptions::default();
        options.node_limit = Some(nodes_max);
        // The solver asserts things about its own numbers; a failed assertion is its failure, not ours.
        let outcome = catch_unwind(AssertUnwindSafe(|| self.problem.solve_with(options)))
            .map_err(|_| HindsightError::Solver("it panicked".to_owned()))?
            .map_err(|error| HindsightError::Solver(error.to_string()))?;
        match outcome {
            SolveOutcome::Solution(solution)
                if solution.termination_reason() == TerminationReason::ProvenOptimal =>
            {
                Ok(self.read(&solution))
            }
            SolveOutcome::Solution(_) | SolveOutcome::Interrupted(_) => Err(HindsightError::NodesSpent),
        }
    }

    fn read(&self, solution: &Solution) -> Plan {
        let mw = |variable| {
            let value = solution.var_value(variable);
            if value > NOISE { value * self.unit_mw } else { 0.0 }
        };
        let all_asked = self.relief_share >= 1.0;
        let moves = self.turns.iter().zip(&self.facts.turns).map(|(turn, facts)| Move {
            curtail_mw: mw(turn.curtail),
            discharge_mw: mw(turn.discharge),
            charge_mw: mw(turn.charge),
            diesel_mw: mw(turn.diesel),
            relief_mw: if all_asked { facts.asked_mw } else { turn.relief.map_or(0.0, mw) },
        });
        Plan {
            bound_usd_per_mwh: solution.objective() + self.constant,
            moves: moves.collect(),
            nodes: solution.stats().nodes_solved,
        }
    }

    /// Tightens the program wherever `plan` profits from its looseness, tangents only where they are
    /// off by more than the turn's part of the gap. False if there is no such place.
    pub(super) fn tighten(&mut self, plan: &Plan, gap_usd_per_mwh: f64) -> bool {
        let tolerated = gap_usd_per_mwh / (2.0 * self.turns.len() as f64);
        let mut tightened = false;
        let mut turns = std::mem::take(&mut self.turns);
        for ((turn, facts), planned) in turns.iter_mut().zip(&self.facts.turns).zip(&plan.moves) {
            if planned.charge_mw > 0.0 && planned.discharge_mw > 0.0 && !turn.exclusive {
                self.exclude(turn);
                tightened = true;
            }
            let import = planned.import_mw(facts.demand_mw) / self.unit_mw;
            // A square is above its tangent by the square of the distance.
            let distances = turn.tangents.iter().map(|at| (import - at).abs());
            let distance = distances.fold(f64::INFINITY, f64::min);
            let weight = facts.slope_usd_per_mwh_per_mw * self.unit_mw * self.weight;
            if weight * distance * distance > tolerated {
                self.add_tangent(turn, import);
                tightened = true;
            }
        }
        self.turns = turns;
        tightened
    }

    /// Either charging or discharging.
    fn exclude(&mut self, turn: &mut Turn) {
        turn.exclusive = true;
        let charges = self.problem.add_binary_var(0.0);
        self.only_if(Part { variable: turn.charge, max: turn.charge_max }, charges);
        self.at_most(&[(turn.discharge, 1.0), (charges, turn.discharge_max)], turn.discharge_max);
    }
}

impl Move {
    /// Power drawn from the grid.
    fn import_mw(&self, demand_mw: f64) -> f64 {
        demand_mw - self.curtail_mw - self.discharge_mw - self.diesel_mw + self.charge_mw
    }
}
